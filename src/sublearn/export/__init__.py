"""Fitted models as something else: as text to read, and as programs that run without sublearn."""

from sublearn.export.c import to_c
from sublearn.export.inequalities import names_of_features
from sublearn.export.onnx import to_onnx
from sublearn.export.sql import to_sql
from sublearn.export.text import export_text

__all__ = ["export_text", "names_of_features", "to_c", "to_onnx", "to_sql"]
