"""Feature hashing: features of any numbers at a fixed number of places (Weinberger et al. 2009).

Let h be MurmurHash3 of the four bytes of the feature's number, lowest first, with the seed 0, read
as a signed number of 32 bits. The feature stands at place |h| mod D, with its value times the sign
of h; values at one place are summed. Because of the sign, features that share a place change the
inner product of two rows by nothing in the mean over hash functions. scikit-learn's
``FeatureHasher`` hashes names by the same formula.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def hashed(X: sp.csr_array, places: int) -> sp.csr_array:
    """Rows with their features at so many places; memory grows with the values of X alone."""
    from sklearn.utils import murmurhash3_32  # imported where it is needed: it takes time

    code = murmurhash3_32(X.indices.astype(np.int32)).astype(np.int64)
    values = np.where(code < 0, -X.data, X.data)
    start = X.indptr.copy()  # which the sums shorten
    rows = sp.csr_array((values, np.abs(code) % places, start), (X.shape[0], places))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
