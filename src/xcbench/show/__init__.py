"""Tables, figures, statistics and pages of any rows: `table`, `pictures`, `effects`, `section`."""
