"""`python -m helpers.lab NAME …` trains; `python -m helpers.lab verify` measures what is shipped again."""

from .train import main

main()
