"""Routes and schemas of agents, versions and promotions."""
