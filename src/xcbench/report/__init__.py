"""Reports: tables, figures and a page made from cells. `folder` writes them all."""
