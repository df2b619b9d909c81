"""What a disk may do to the bytes of a file."""

from collections.abc import Iterator


def faults(content: bytes) -> Iterator[bytes]:
    """Flipped bits all over, cuts, zeros, and a text with other digits."""
    for place in range(0, len(content), max(1, len(content) // 97)):
        yield content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
    yield from (content[:size] for size in (0, 1, len(content) // 2, len(content) - 1))
    yield bytes(len(content))
    for place in range(0, len(content), max(1, len(content) // 29)):
        digit = next((i for i in range(place, len(content)) if content[i : i + 1].isdigit()), None)
        if digit is not None:
            other = b"1" if content[digit : digit + 1] != b"1" else b"2"
            yield content[:digit] + other + content[digit + 1 :]
