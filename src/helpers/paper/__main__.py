"""python -m helpers.paper"""

from .run import main

main()
