"""`python -m utmost` is `utmost`."""

from utmost.cli import main

if __name__ == "__main__":
    main()
