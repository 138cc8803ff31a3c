/** JSON schemas as forms: what to ask for, and what is wrong with an answer. */
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  /** The text names a model: the form offers those that the server knows. */
  'x-model'?: boolean;
  /** The text names a column of the items. */
  'x-column'?: boolean;
}

export type FieldKind =
  | 'integer'
  | 'number'
  | 'boolean'
  | 'text'
  | 'choice'
  | 'ticks'
  | 'list'
  | 'json';

export interface SchemaField {
  name: string;
  label: string;
  hint: string;
  kind: FieldKind;
  required: boolean;
  nullable: boolean;
  /** Undefined where the schema names none. */
  default: unknown;
  choices: readonly (string | number | boolean)[];
  schema: JsonSchema;
}

/** What has been typed, by name. Nothing typed means the default. */
export type Draft = Readonly<Record<string, string>>;
export type Problems = Readonly<Record<string, string>>;

/** Stands in a draft for null, where null is not the default. */
export const NULL = '\u0000null';

export function fieldsOf(schema: JsonSchema): SchemaField[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) =>
    fieldOf(name, property, schema, required.has(name)),
  );
}

/** The schema whose lists of these names are chosen out of what there is, in place of typed. */
export function offering(
  schema: JsonSchema,
  names: readonly string[],
  choices: readonly string[],
): JsonSchema {
  if (choices.length === 0) return schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { schema: plain } = simplified(property, schema);
    if (!names.includes(name) || plain.type !== 'array') return [name, property];
    return [name, { ...plain, items: { type: 'string', enum: [...choices] } }];
  });
  return { ...schema, properties: Object.fromEntries(properties) as Record<string, JsonSchema> };
}

function fieldOf(
  name: string,
  property: JsonSchema,
  root: JsonSchema,
  required: boolean,
): SchemaField {
  const { schema, nullable } = simplified(property, root);
  const item = schema.type === 'array' && schema.items && simplified(schema.items, root).schema;
  const choices = choicesOf(item || schema);
  return {
    name,
    label: asWords(name),
    hint: property.description ?? schema.description ?? '',
    kind: kindOf(schema, choices, item || undefined),
    required,
    nullable,
    default: property.default !== undefined ? property.default : schema.default,
    choices,
    schema,
  };
}

/** Without references and without the null of `T | null`. */
function simplified(
  given: JsonSchema,
  root: JsonSchema,
): { schema: JsonSchema; nullable: boolean } {
  let schema = resolved(given, root);
  let nullable = false;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const all = options.map((option) => resolved(option, root));
    const real = all.filter((option) => option.type !== 'null');
    nullable = real.length < all.length;
    const only = real.length === 1 ? real[0] : undefined;
    const rest = { ...schema, anyOf: undefined, oneOf: undefined };
    if (only) schema = { ...rest, ...only };
    else if (real.every((option) => choicesOf(option).length > 0))
      schema = { ...rest, enum: real.flatMap((option) => [...choicesOf(option)]) };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null');
    nullable ||= types.length < schema.type.length;
    schema = { ...schema, type: types.length === 1 ? types[0] : types };
  }
  if (schema.enum?.includes(null)) nullable = true;
  return { schema, nullable };
}

function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const only = schema.allOf?.length === 1 ? schema.allOf[0] : undefined;
  if (only) return { ...schema, allOf: undefined, ...resolved(only, root) };
  const name = schema.$ref?.split('/').at(-1);
  const found = name === undefined ? undefined : root.$defs?.[name];
  return found ? { ...found, ...schema, $ref: undefined } : schema;
}

function choicesOf(schema: JsonSchema): readonly (string | number | boolean)[] {
  const values = schema.const !== undefined ? [schema.const] : (schema.enum ?? []);
  return values.filter(
    (value): value is string | number | boolean => value !== null && typeof value !== 'object',
  );
}

function kindOf(
  schema: JsonSchema,
  choices: readonly unknown[],
  item: JsonSchema | undefined,
): SchemaField['kind'] {
  if (choices.length > 0) return item ? 'ticks' : 'choice';
  if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean')
    return schema.type;
  if (schema.type === 'string') return 'text';
  return item?.type === 'string' ? 'list' : 'json';
}

/** `max_trials` as "Max trials"; `max_cost_usd` as "Max cost (USD)". */
export function asWords(name: string): string {
  const words = name.replace(/_/g, ' ').trim().replace(/ usd$/, ' (USD)');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A default as a placeholder says it. */
export function shownDefault(field: SchemaField): string {
  const value = field.default;
  if (value === undefined) return '';
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value === '' ? 'empty' : value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.length === 0 ? 'none' : value.join(', ');
  return JSON.stringify(value);
}

/** A form filled with values that are there already. */
export function draftOf(schema: JsonSchema, values: Readonly<Record<string, unknown>>): Draft {
  const draft: Record<string, string> = {};
  for (const field of fieldsOf(schema)) {
    const value = values[field.name];
    if (value === undefined) continue;
    draft[field.name] = typed(field, value);
  }
  return draft;
}

function typed(field: SchemaField, value: unknown): string {
  if (value === null) return NULL;
  if ((field.kind === 'list' || field.kind === 'ticks') && Array.isArray(value))
    return value.join('\n');
  if (field.kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

/** The values of a draft, and for each field that cannot be used what is wrong with it. */
export function readDraft(
  schema: JsonSchema,
  draft: Draft,
): { values: Record<string, unknown>; problems: Record<string, string> } {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fieldsOf(schema)) {
    const text = draft[field.name] ?? '';
    if (text.trim() === '') {
      if (field.required && field.default === undefined) problems[field.name] = 'This is needed.';
      continue;
    }
    const { value, problem } = readField(field, text);
    if (problem) problems[field.name] = problem;
    else values[field.name] = value;
  }
  return { values, problems };
}

function readField(field: SchemaField, text: string): { value?: unknown; problem?: string } {
  if (text === NULL) return { value: null };
  switch (field.kind) {
    case 'integer':
    case 'number':
      return readNumber(field, text.trim());
    case 'boolean':
      return { value: text === 'true' };
    case 'choice': {
      const value = field.choices.find((choice) => String(choice) === text);
      if (value !== undefined) return { value };
      return { problem: `Use one of ${field.choices.join(', ')}.` };
    }
    case 'ticks':
    case 'list':
      return readList(field.schema, text);
    case 'json':
      try {
        return { value: JSON.parse(text) as unknown };
      } catch {
        return { problem: 'This is no JSON. Text needs double quotes: ["a", "b"].' };
      }
    case 'text':
      return readText(field.schema, text);
  }
}

function readNumber(field: SchemaField, text: string) {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: 'This is no number.' };
  if (field.kind === 'integer' && !Number.isInteger(value))
    return { problem: 'This has to be a whole number.' };
  const problem = outside(field.schema, value);
  return problem ? { problem } : { value };
}

function outside(schema: JsonSchema, value: number): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (minimum !== undefined && value < minimum) return `This has to be ${minimum} or more.`;
  if (maximum !== undefined && value > maximum) return `This has to be ${maximum} or less.`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `This has to be more than ${exclusiveMinimum}.`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `This has to be less than ${exclusiveMaximum}.`;
  return null;
}

function readText(schema: JsonSchema, text: string) {
  const { minLength, maxLength, pattern } = schema;
  if (minLength !== undefined && text.length < minLength)
    return { problem: `This needs ${minLength} characters or more.` };
  if (maxLength !== undefined && text.length > maxLength)
    return { problem: `This may have ${maxLength} characters at most.` };
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text))
    return { problem: `This has to look like ${pattern}.` };
  return { value: text };
}

function readList(schema: JsonSchema, text: string) {
  const value = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (schema.minItems !== undefined && value.length < schema.minItems)
    return { problem: `This needs ${schema.minItems} lines or more.` };
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    return { problem: `This may have ${schema.maxItems} lines at most.` };
  return { value };
}

/**
 * What a server said is wrong, by field below `prefix`, such as `body.optimizer.settings`.
 * A place inside a field counts as the field; the rest stays for the form as a whole.
 */
export function problemsBelow(
  prefix: string,
  problems: readonly { where: string; message: string }[],
): { fields: Record<string, string>; rest: { where: string; message: string }[] } {
  const fields: Record<string, string> = {};
  const rest: { where: string; message: string }[] = [];
  for (const problem of problems) {
    const below = problem.where.startsWith(`${prefix}.`);
    const name = below ? problem.where.slice(prefix.length + 1).split(/[.[]/)[0] : undefined;
    if (name) fields[name] ??= problem.message;
    else rest.push(problem);
  }
  return { fields, rest };
}
