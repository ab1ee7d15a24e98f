"""`python -m helpers.claims` prints the ledger of the last `make book` as text."""

from .ledger import main

main()
