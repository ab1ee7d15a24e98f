from .architectures import build as build
from .runs import read_manifest as read_manifest
from .runs import recipe as recipe
from .runs import recipes as recipes
from .runs import untrained as untrained
from .train import accuracy as accuracy
