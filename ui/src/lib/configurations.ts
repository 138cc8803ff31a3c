/** An agent's settings, as the server has them. */
export interface AgentConfiguration {
  sections: Record<string, string>;
  parameters: Record<string, unknown>;
  examples: Record<string, unknown>[];
}

export type PartChange = 'same' | 'changed' | 'added' | 'removed';

/** A section or parameter on both sides; null where it does not exist. */
export interface ComparedPart {
  name: string;
  before: string | null;
  after: string | null;
  change: PartChange;
}

/** An example on both sides. Its number counts from one, on the side that has it. */
export interface ComparedExample extends ComparedPart {
  number: number;
}

export interface ConfigurationChanges {
  sections: ComparedPart[];
  parameters: ComparedPart[];
  examples: ComparedExample[];
}

/** What came out of a JSON document, whatever it is, as a configuration. */
export function asConfiguration(value: unknown): AgentConfiguration {
  const found = (value ?? {}) as Partial<AgentConfiguration>;
  return {
    sections: found.sections ?? {},
    parameters: found.parameters ?? {},
    examples: found.examples ?? [],
  };
}

/** A JSON value as people read it: text as it is, the rest with its lines indented. */
export function jsonText(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, null, 2) ?? '';
}

/** Everything on both sides, also what stayed: a reader folds it away or looks at it. */
export function compareConfigurations(
  before: AgentConfiguration,
  after: AgentConfiguration,
): ConfigurationChanges {
  return {
    sections: compareParts(before.sections, after.sections, (text) => text),
    parameters: compareParts(before.parameters, after.parameters, jsonText),
    examples: compareExamples(before.examples, after.examples),
  };
}

export function changedCount(changes: ConfigurationChanges): number {
  const all = [...changes.sections, ...changes.parameters, ...changes.examples];
  return all.filter((part) => part.change !== 'same').length;
}

/** "2 sections and 1 parameter": what changed, for a line of text. */
export function changesInWords(changes: ConfigurationChanges): string {
  const counted = [
    counting(changes.sections, 'section'),
    counting(changes.parameters, 'parameter'),
    counting(changes.examples, 'example'),
  ].filter((text) => text !== '');
  if (counted.length === 0) return 'nothing';
  const last = counted.pop() as string;
  return counted.length === 0 ? last : `${counted.join(', ')} and ${last}`;
}

function counting(parts: readonly ComparedPart[], noun: string): string {
  const changed = parts.filter((part) => part.change !== 'same').length;
  return changed === 0 ? '' : `${changed} ${noun}${changed === 1 ? '' : 's'}`;
}

function compareParts<Value>(
  before: Record<string, Value>,
  after: Record<string, Value>,
  text: (value: Value) => string,
): ComparedPart[] {
  // The order of what is new, then what is gone: a reader looks for the new text first.
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.map((name) => {
    const old = Object.hasOwn(before, name) ? text(before[name] as Value) : null;
    const now = Object.hasOwn(after, name) ? text(after[name] as Value) : null;
    return { name, before: old, after: now, change: changeOf(old, now) };
  });
}

/** Examples have no names: equal ones are paired first, so that moving one is no change. */
function compareExamples(
  before: readonly Record<string, unknown>[],
  after: readonly Record<string, unknown>[],
): ComparedExample[] {
  const left = before.map(jsonText);
  const taken = new Set<number>();
  const rows: ComparedExample[] = after.map((example, index) => {
    const text = jsonText(example);
    const at = left.findIndex((one, other) => one === text && !taken.has(other));
    if (at >= 0) taken.add(at);
    const old = at >= 0 ? text : null;
    return {
      name: `Example ${index + 1}`,
      number: index + 1,
      before: old,
      after: text,
      change: changeOf(old, text),
    };
  });
  left.forEach((text, index) => {
    if (taken.has(index)) return;
    rows.push({
      name: `Example ${index + 1} before`,
      number: index + 1,
      before: text,
      after: null,
      change: 'removed',
    });
  });
  return rows;
}

function changeOf(before: string | null, after: string | null): PartChange {
  if (before === after) return 'same';
  if (before === null) return 'added';
  return after === null ? 'removed' : 'changed';
}
