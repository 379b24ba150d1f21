"""A process in which nothing can be imported but Python's library and what a distribution requires.

Code that stands before a program given to `python -c`: what the wheel needs and does not declare is missed there, even
if it is installed for the tests.
"""

ALONE = """
import importlib.metadata, re, sys

def plain_name(text):
    return re.sub(r"[-_.]+", "-", re.match(r"[\\w.-]+", text).group()).lower()

def required(name):
    wanted, found = [name], set()
    while wanted:
        one = wanted.pop()
        if one in found:
            continue
        try:
            lines = importlib.metadata.requires(one) or []
        except importlib.metadata.PackageNotFoundError:  # its marker is not for this Python
            continue
        found.add(one)
        wanted += [plain_name(line) for line in lines if "extra ==" not in line]
    return found

class Missing:
    def __init__(self, allowed):
        homes = importlib.metadata.packages_distributions()
        self.names = {name for name, of in homes.items() if not allowed & set(map(plain_name, of))}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not required by sublearn", name=name)

sys.meta_path.insert(0, Missing(required("sublearn")))
"""
