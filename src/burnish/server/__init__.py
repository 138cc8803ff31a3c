"""FastAPI: routes, schemas, live events and who may use them."""
