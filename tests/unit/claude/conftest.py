from tests.unit.doors import closed_doors

__all__ = ["closed_doors"]
