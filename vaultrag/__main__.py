"""``python -m vaultrag`` is the command ``vaultrag``."""

from vaultrag.cli import main

if __name__ == "__main__":
    main()
