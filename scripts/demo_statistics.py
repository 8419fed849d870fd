# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstration says about its measurements."""


def headline(speedups):
    """One sentence about all measurements."""
    clear = [each.median for each in speedups if each.is_clear()]
    if not clear:
        return "The same solver, not even relinked: no clear difference"
    least, most = f"{min(clear):.2f}", f"{max(clear):.2f}"
    gains = least if least == most else f"{least} to {most}"
    text = f"The same solver, not even relinked: {gains} times as fast"
    if unclear := len(speedups) - len(clear):
        text += f"; no clear difference in {unclear} of {len(speedups)} measurements"
    return text
