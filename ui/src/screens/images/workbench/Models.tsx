import { useState } from 'react';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { TEMPLATES, type WorkbenchForm } from './form';
import type { ImageModels } from '../types';

const KINDS: readonly {
  kind: ModelKind;
  label: string;
  field: 'imageModel' | 'judgeModel' | 'textModel';
}[] = [
  { kind: 'image', label: 'Image model', field: 'imageModel' },
  { kind: 'judge', label: 'Judge', field: 'judgeModel' },
  { kind: 'text', label: 'Text model', field: 'textModel' },
];

/** Who draws, who judges, who writes the prompts. */
export function Models({
  form,
  models,
  onChange,
}: {
  form: WorkbenchForm;
  models: ImageModels | undefined;
  onChange: (changes: Partial<WorkbenchForm>) => void;
}) {
  return (
    <details className="workbench-models">
      <summary>
        Models{' '}
        <span className="small muted">
          {KINDS.map(({ kind, field }) => nameOf(kind, models, form[field])).join(' · ')}
        </span>
      </summary>
      <div className="stack">
        {KINDS.map(({ kind, label, field }) => (
          <ModelSelect
            key={kind}
            label={label}
            kind={kind}
            models={models}
            chosen={form[field]}
            onChoose={(name) => onChange({ [field]: name })}
          />
        ))}
        <Choice
          label="Ranked by"
          hint="In pairs each variant is compared with each, in both orders: two more calls a pair."
          value={form.rankBy}
          options={[
            { value: '', label: 'As the server has it' },
            { value: 'score', label: 'Score of each' },
            { value: 'pairs', label: 'Comparison in pairs' },
          ]}
          onChange={(rankBy) => onChange({ rankBy })}
        />
      </div>
    </details>
  );
}

function ModelSelect({
  label,
  kind,
  models,
  chosen,
  onChoose,
}: {
  label: string;
  kind: ModelKind;
  models: ImageModels | undefined;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const { shown, value } = optionsFor(kind, models, chosen);
  const [typing, setTyping] = useState(false);
  return (
    <>
      <Choice
        label={label}
        value={typing ? OTHER : value}
        options={[...shown, { value: OTHER, label: 'Another…' }]}
        onChange={(chosen) => {
          setTyping(chosen === OTHER);
          if (chosen !== OTHER) onChoose(chosen);
        }}
      />
      {typing && (
        <Field
          label={`Name of the ${label.toLowerCase()}`}
          hint="As openai/NAME, if burnish.toml names it in [images] or [models]."
        >
          {(given) => (
            <input
              {...given}
              className="input"
              autoComplete="off"
              spellCheck={false}
              placeholder="openai/…"
              defaultValue=""
              onChange={(event) => onChoose(event.target.value.trim())}
            />
          )}
        </Field>
      )}
    </>
  );
}

type ModelKind = 'image' | 'judge' | 'text';

/** The choice that lets one type a name. */
const OTHER = '\u0000other';

/** What a select shows: the server's own choice is the value until another is chosen. */
export function optionsFor(kind: ModelKind, models: ImageModels | undefined, chosen: string) {
  const all = models?.[`${kind}_models`] ?? [];
  const shown = all.map((model) => ({
    value: model.name ?? TEMPLATES,
    label: model.why_not ? `${model.label} · ${model.why_not}` : model.label,
    disabled: !model.usable,
  }));
  const usual = all.find((model) => model.default);
  const value = chosen !== '' ? chosen : usual ? (usual.name ?? TEMPLATES) : '';
  // One that a run before had, or that somebody typed.
  if (models && !shown.some((option) => option.value === value))
    shown.push({ value, label: value, disabled: false });
  return { shown, value };
}

/** The chosen one in a word. */
function nameOf(kind: ModelKind, models: ImageModels | undefined, chosen: string): string {
  const { value } = optionsFor(kind, models, chosen);
  if (value === '') return '…';
  return value.replace(/^openai\//, '');
}
