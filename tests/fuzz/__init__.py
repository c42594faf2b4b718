"""Coverage-guided fuzzing of what strangers write: notes, lines on the socket, queries.

    make fuzz                                   each target for ten minutes
    python -m tests.fuzz parser --seconds 60    one of them

``targets`` states what must hold for any bytes; ``corpus`` holds a few bytes of each kind to begin from. The
engine is atheris (the extra ``fuzz``), which has wheels for Linux on x86-64 only.
"""
