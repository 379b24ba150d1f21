"""The command line: one file a command; what commands share lies in files named after it. Entered by `app`."""
