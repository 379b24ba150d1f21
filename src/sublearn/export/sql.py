from typing import Any


def to_sql(model: Any) -> str:
    raise NotImplementedError
