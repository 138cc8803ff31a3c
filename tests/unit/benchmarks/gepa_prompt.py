"""The reflection prompt of the gepa package (0.1.4), for tests that do without the package."""

_TEMPLATE = """I provided an assistant with the following instructions to perform a task for me:
```
{current}
```

The following are examples of different task inputs provided to the assistant along with the \
assistant's response for each of them, and some feedback on how the assistant's response \
could be better:
```
{examples}
```

Your task is to write a new instruction for the assistant.

Read the inputs carefully and identify the input format and infer detailed task description about the \
task I wish to solve with the assistant.

Provide the new instructions within ``` blocks."""


def gepa_prompt(world, sections, rows, section=None):
    """What the package asks about some rows; costs a call of the world for each."""
    parts = []
    for number, row in enumerate(rows, start=1):
        output = world.answer(sections, row)
        parts.append(
            f"# Example {number}\n## Inputs\n### message\n{row['message']}\n\n"
            f"## Generated Outputs\n{output}\n\n## Feedback\n{world.score(output, row)[1]}\n\n"
        )
    current = sections[section or next(iter(sections))]
    return _TEMPLATE.format(current=current, examples="\n\n".join(parts))


def fenced(answer):
    """The text that the package would take from an answer."""
    start, end = answer.find("```") + 3, answer.rfind("```")
    return answer[start:end].strip()
