import { Field } from '@/components/form/Field';
import { ModelChoice } from '@/components/form/ModelChoice';
import { Segmented } from '@/components/Tabs';
import { MOST_ROUNDS, outlook, type FormProblems, type RefineForm } from './form';
import { judgesOf, type SuiteView } from '../suite';

/** The refinement's controls with what each means, and whether it will do anything. */
export function RefineFields({
  value,
  suite,
  problems,
  onChange,
}: {
  value: RefineForm;
  suite: SuiteView | undefined;
  problems: FormProblems;
  onChange: (changes: Partial<RefineForm>) => void;
}) {
  const found = outlook(value, suite);
  const judges = [...new Set(judgesOf(suite).map((judge) => judge.model))];
  return (
    <fieldset className="evals-refine stack" data-state={found.state}>
      <legend>
        Refinement{' '}
        <span
          className={`badge ${found.state === 'active' ? 'good' : found.state === 'inactive' ? 'warn' : ''}`}
        >
          {{ active: 'on', inactive: 'inactive', off: 'off' }[found.state]}
        </span>
      </legend>
      <p className="muted small">
        An output that falls short is written anew from the judge’s feedback and judged again, in
        rounds. All rounds are kept.
      </p>
      <div className="evals-fields">
        <ModelChoice
          label="Optimizer model"
          hint={
            judges.length > 0
              ? `Writes outputs anew. Need not be the model under test or the judge (${judges.join(', ')}).`
              : 'Writes outputs anew. Need not be the model under test or the judge.'
          }
          value={value.model}
          none="None"
          onChange={(model) => onChange({ model })}
        />
        <Field
          label="Rounds at most"
          hint={`The limit for each output, 0 to ${MOST_ROUNDS}. 0 switches refinement off.`}
          problem={problems.refineLimit}
        >
          {(given) => (
            <input
              {...given}
              className="input"
              type="number"
              min={0}
              max={MOST_ROUNDS}
              step={1}
              value={value.limit}
              onChange={(event) => onChange({ limit: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Threshold"
          hint="A score from here on ends the rounds, also at once. Nothing: only a perfect score does."
          problem={problems.threshold}
        >
          {(given) => (
            <input
              {...given}
              className="input"
              inputMode="decimal"
              placeholder="a perfect score"
              value={value.threshold}
              onChange={(event) => onChange({ threshold: event.target.value })}
            />
          )}
        </Field>
        <div className="field">
          <span className="label">Which round is the answer</span>
          <div>
            <Segmented
              label="Which round is the answer"
              options={[
                { value: 'latest', label: 'Latest' },
                { value: 'best', label: 'Best' },
              ]}
              chosen={value.answer}
              onChoose={(chosen) => onChange({ answer: chosen })}
            />
          </div>
          <span className="hint">
            The latest may score less than one before it; the best never does. Both are reported.
          </span>
        </div>
      </div>
      {found.text !== '' && (
        <div
          className={`notice ${found.state === 'inactive' ? 'warn' : ''}`}
          role="status"
          data-outlook={found.state}
        >
          <span className="small">
            {found.state === 'inactive' && <strong>Inactive. </strong>}
            {found.text}
          </span>
        </div>
      )}
    </fieldset>
  );
}
