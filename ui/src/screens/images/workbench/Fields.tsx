import { useId, useState, type KeyboardEvent } from 'react';
import { Field } from '@/components/form/Field';
import { Segmented } from '@/components/Tabs';
import { count } from '@/lib/format';
import {
  OBJECTIVES,
  promptProblem,
  QUALITIES,
  SHORTEST_PROMPT,
  VARIANT_COUNTS,
  withTerm,
  type WorkbenchForm,
} from './form';
import { Models } from './Models';
import type { ImageModels, ObjectivePreset } from '../types';

const LONGEST_PROMPT = 4000;

/** What a run is asked for. */
export function WorkbenchFields({
  form,
  models,
  onChange,
}: {
  form: WorkbenchForm;
  models: ImageModels | undefined;
  onChange: (changes: Partial<WorkbenchForm>) => void;
}) {
  return (
    <>
      <PromptField prompt={form.prompt} onChange={(prompt) => onChange({ prompt })} />
      <Objectives chosen={form.objective} onChoose={(objective) => onChange({ objective })} />
      <div className="workbench-pair">
        <div className="field">
          <span className="label">Variants</span>
          <Segmented
            label="Variants"
            chosen={String(form.variants)}
            onChoose={(value) => onChange({ variants: value === '2' ? 2 : 3 })}
            options={VARIANT_COUNTS.map((one) => ({ value: String(one), label: String(one) }))}
          />
        </div>
        <div className="field">
          <span className="label">Quality</span>
          <Segmented
            label="Quality"
            chosen={form.quality}
            onChoose={(quality) => onChange({ quality })}
            options={QUALITIES.map((one) => ({ value: one, label: one }))}
          />
        </div>
      </div>
      <div className="workbench-terms">
        <Terms
          label="Must include"
          terms={form.mustInclude}
          onChange={(mustInclude) => onChange({ mustInclude })}
        />
        <Terms
          label="Must avoid"
          terms={form.mustAvoid}
          onChange={(mustAvoid) => onChange({ mustAvoid })}
        />
      </div>
      <Models form={form} models={models} onChange={onChange} />
    </>
  );
}

function PromptField({ prompt, onChange }: { prompt: string; onChange: (prompt: string) => void }) {
  const length = prompt.trim().length;
  return (
    <Field
      label="Prompt"
      problem={length > 0 ? promptProblem(prompt) : null}
      hint={
        <span data-counter={length}>
          {`${count(length)} of ${count(LONGEST_PROMPT)} characters, ${SHORTEST_PROMPT} at least`}
        </span>
      }
    >
      {(given) => (
        <textarea
          {...given}
          className="textarea workbench-prompt"
          rows={4}
          maxLength={LONGEST_PROMPT}
          placeholder="What is to be seen?"
          value={prompt}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function Objectives({
  chosen,
  onChoose,
}: {
  chosen: ObjectivePreset;
  onChoose: (objective: ObjectivePreset) => void;
}) {
  const name = useId();
  return (
    <fieldset className="objectives">
      <legend>Objective</legend>
      {OBJECTIVES.map((one) => (
        <label key={one.value} className="objective" data-chosen={one.value === chosen}>
          <input
            type="radio"
            name={name}
            value={one.value}
            checked={one.value === chosen}
            onChange={() => onChoose(one.value)}
          />
          <span className="stack objective-text">
            <strong>{one.label}</strong>
            <span className="small muted">{one.help}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A list of words: each is added by Enter or a comma, and taken away by its button. */
function Terms({
  label,
  terms,
  onChange,
}: {
  label: string;
  terms: readonly string[];
  onChange: (terms: readonly string[]) => void;
}) {
  const [typed, setTyped] = useState('');
  const add = () => {
    if (typed.trim() !== '') onChange(withTerm(terms, typed));
    setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) {
      // Sent as it stands, with what is typed.
      if (event.key === 'Enter') add();
    } else if (event.key === 'Enter' || event.key === ',') {
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && typed === '' && terms.length > 0) {
      onChange(terms.slice(0, -1));
    }
  };
  return (
    <Field label={label}>
      {(given) => (
        <div className="terms">
          {terms.map((term) => (
            <span key={term} className="badge">
              {term}
              <button
                type="button"
                className="terms-drop"
                aria-label={`Without ${term}`}
                onClick={() => onChange(terms.filter((one) => one !== term))}
              >
                ✕
              </button>
            </span>
          ))}
          <input
            {...given}
            className="terms-input"
            autoComplete="off"
            maxLength={200}
            placeholder={terms.length === 0 ? 'Enter adds one' : ''}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={onKeyDown}
            onBlur={add}
          />
        </div>
      )}
    </Field>
  );
}
