"""`python -m chargehand` is the `chargehand` command."""

from chargehand.cli import main

if __name__ == "__main__":
    main()
