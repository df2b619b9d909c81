"""The five papers: their grids, their tables and figures, what they published."""
