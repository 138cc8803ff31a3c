import { useId, useMemo } from 'react';
import {
  fieldsOf,
  NULL,
  shownDefault,
  type Draft,
  type JsonSchema,
  type Problems,
  type SchemaField,
} from '@/lib/schema';
import { Field } from './Field';
import { ModelChoice } from './ModelChoice';
import { Ticked } from './Ticked';
import './schemaForm.css';

/**
 * A form for what a JSON schema describes. Defaults stand as placeholders: a field left empty is as
 * the server has it. Read what was typed with `readDraft`.
 */
export function SchemaForm({
  schema,
  draft,
  onChange,
  problems = {},
  columns = [],
  empty = 'There is nothing to set.',
}: {
  schema: JsonSchema;
  draft: Draft;
  onChange: (draft: Draft) => void;
  problems?: Problems;
  /** Of the items: offered where a setting names one. */
  columns?: readonly string[];
  empty?: string;
}) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  if (fields.length === 0) return <p className="muted small">{empty}</p>;
  return (
    <div className="schema-form">
      {fields.map((field) => (
        <SchemaControl
          key={field.name}
          field={field}
          value={draft[field.name] ?? ''}
          problem={problems[field.name] ?? null}
          columns={columns}
          onChange={(value) => onChange({ ...draft, [field.name]: value })}
        />
      ))}
    </div>
  );
}

interface ControlProps {
  field: SchemaField;
  value: string;
  problem: string | null;
  columns: readonly string[];
  onChange: (value: string) => void;
}

function SchemaControl(props: ControlProps) {
  const { field, problem } = props;
  if (field.kind === 'ticks') return <Ticks {...props} />;
  if (field.schema['x-model'] === true)
    return (
      <ModelChoice
        label={labelOf(field)}
        hint={<Ticked text={field.hint} />}
        problem={problem}
        value={props.value === NULL ? '' : props.value}
        none={field.required ? undefined : 'None'}
        onChange={props.onChange}
      />
    );
  const wide = field.kind === 'list' || field.kind === 'json';
  return (
    <div className={wide ? 'schema-wide' : undefined}>
      <Field label={labelOf(field)} hint={<Ticked text={hintOf(field)} />} problem={problem}>
        {(given) => <Control {...props} given={given} />}
      </Field>
    </div>
  );
}

function labelOf(field: SchemaField): string {
  return field.required ? `${field.label} (needed)` : field.label;
}

function hintOf(field: SchemaField): string {
  const how = field.kind === 'list' ? 'One on each line.' : field.kind === 'json' ? 'As JSON.' : '';
  return [field.hint, how].filter(Boolean).join(' ');
}

/** Several of a few; what is chosen and not among them can be taken away. */
function Ticks({ field, value, problem, onChange }: ControlProps) {
  const id = useId();
  const chosen = value.split('\n').filter((line) => line !== '');
  const options = [...new Set([...field.choices.map(String), ...chosen])];
  return (
    <fieldset className="field schema-wide schema-ticks" aria-describedby={`${id}-hint`}>
      <legend>{labelOf(field)}</legend>
      <div className="schema-options">
        {options.map((option) => (
          <label key={option} className="schema-none">
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={(event) =>
                onChange(
                  options
                    .filter((one) => (one === option ? event.target.checked : chosen.includes(one)))
                    .join('\n'),
                )
              }
            />
            {option}
          </label>
        ))}
      </div>
      <span className="hint" id={`${id}-hint`}>
        <Ticked text={field.hint} />
      </span>
      {problem && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
    </fieldset>
  );
}

type Given = Parameters<Parameters<typeof Field>[0]['children']>[0];

function Control({ field, value, columns, onChange, given }: ControlProps & { given: Given }) {
  if (field.kind === 'choice' || field.kind === 'boolean')
    return <Select field={field} value={value} onChange={onChange} given={given} />;
  const shown = value === NULL ? '' : value;
  const placeholder = value === NULL ? 'none' : shownDefault(field);
  const shared = { ...given, placeholder, value: shown, disabled: value === NULL };
  const named = field.schema['x-column'] === true && columns.length > 0;
  if (named && field.kind === 'text')
    return <Columns {...{ field, value, columns, onChange, given }} />;
  const input =
    field.kind === 'list' || field.kind === 'json' ? (
      <textarea
        {...shared}
        className={`textarea ${field.kind === 'json' ? 'mono' : ''}`}
        rows={3}
        onChange={(event) => onChange(event.target.value)}
      />
    ) : (
      <input
        {...shared}
        className="input"
        inputMode={
          field.kind === 'text' ? 'text' : field.kind === 'integer' ? 'numeric' : 'decimal'
        }
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
    );
  // Where null is not the default, an empty field cannot say it.
  if (!field.nullable || field.default === null || field.default === undefined) return input;
  return (
    <div className="schema-nullable">
      {input}
      <label className="schema-none">
        <input
          type="checkbox"
          checked={value === NULL}
          onChange={(event) => onChange(event.target.checked ? NULL : '')}
        />
        None
      </label>
    </div>
  );
}

/** One of the items' columns; what is chosen and not among them stays to be seen. */
function Columns({
  field,
  value,
  columns,
  onChange,
  given,
}: Omit<ControlProps, 'problem'> & { given: Given }) {
  const byDefault = shownDefault(field);
  const missing = byDefault !== '' && byDefault !== 'none' && !columns.includes(byDefault);
  const all = value === '' || columns.includes(value) ? columns : [...columns, value];
  return (
    <select
      {...given}
      className="select"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">
        {missing ? `Choose… (there is no ${byDefault})` : byDefault === '' ? 'Choose…' : byDefault}
      </option>
      {all
        .filter((column) => column !== byDefault)
        .map((column) => (
          <option key={column} value={column}>
            {column}
          </option>
        ))}
    </select>
  );
}

function Select({
  field,
  value,
  onChange,
  given,
}: {
  field: SchemaField;
  value: string;
  onChange: (value: string) => void;
  given: Given;
}) {
  const byDefault = shownDefault(field);
  const options =
    field.kind === 'boolean'
      ? [
          { value: 'true', label: 'yes' },
          { value: 'false', label: 'no' },
        ]
      : field.choices.map((choice) => ({ value: String(choice), label: String(choice) }));
  return (
    <select
      {...given}
      className="select"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{byDefault === '' ? 'Choose…' : `Default: ${byDefault}`}</option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
      {field.nullable && field.default !== null && <option value={NULL}>none</option>}
    </select>
  );
}
