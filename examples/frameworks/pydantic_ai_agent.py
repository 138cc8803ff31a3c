"""An agent of pydantic-ai, optimized: a tool is called wrongly until its description says how.

Runs offline: the model is scripted, and reads what a real one would read.
"""

from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import burnish


class Weather(BaseModel):
    """What is told about a city."""

    degrees: str = Field(description="The temperature.")


def scripted(messages, info: AgentInfo) -> ModelResponse:
    """Knows units from the parameter's description, and the format from the field's."""
    tool, output = info.function_tools[0], info.output_tools[0]
    unit = tool.parameters_json_schema["properties"]["unit"].get("description", "")
    returned = [part for part in messages[-1].parts if part.part_kind == "tool-return"]
    if not returned:
        value = "celsius" if "celsius" in unit else "C"
        city = str(messages[0].parts[-1].content)
        return ModelResponse(parts=[ToolCallPart("temperature", {"city": city, "unit": value})])
    field = output.parameters_json_schema["properties"]["degrees"]["description"]
    degrees = str(returned[-1].content)
    told = degrees if "number only" in field else f"It is {degrees} degrees."
    return ModelResponse(parts=[ToolCallPart(output.name, {"degrees": told})])


agent = Agent(
    FunctionModel(scripted), name="weather", instructions="Tell the weather.", output_type=Weather
)


@agent.tool_plain
def temperature(city: str, unit: str) -> str:
    """The temperature of a city.

    Args:
        city: The city's name.
        unit: The unit.
    """
    return str(len(city)) if unit == "celsius" else "unknown unit"


cities = ["Rome", "Lima", "Oslo", "Paris", "Berlin", "Madrid", "Vienna", "Lisbon"]
rows = [{"city": city, "degrees": str(len(city))} for city in cities]
tried = burnish.from_pydantic_ai(agent, prompt="{{city}}")
print(list(tried.configuration.sections))

result = burnish.optimize(
    agent=tried,
    suite=burnish.Suite(
        dataset=rows,
        scorers=[{"kind": "json_field", "path": "degrees", "field": "degrees"}],
        split={"validation": 0.5, "test": 0.5},
    ),
    optimizer="grid",  # with a model that writes: optimizer="gepa", model="openai/…"
    settings={
        "sections": {
            "tools.temperature.parameters.unit": ["celsius or fahrenheit"],
            "output.degrees": ["The temperature, the number only."],
        }
    },
    budget=burnish.Budget(max_trials=6),
)
print(result.baseline.score, "->", result.best.score)
assert (result.baseline.score, result.best.score) == (0.0, 1.0)

winner = tried.apply(result.best)
for row in rows:  # Equal in effect: it answers as it did in the run.
    assert winner.run_sync(row["city"]).output == Weather(degrees=row["degrees"])
assert agent.run_sync("Rome").output == Weather(degrees="It is unknown unit degrees.")
