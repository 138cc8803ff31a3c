import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { answer, api, ApiError } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { Field } from '@/components/form/Field';
import { SchemaForm } from '@/components/form/SchemaForm';
import { Failure, Loading } from '@/components/States';
import { Ticked } from '@/components/form/Ticked';
import { say } from '@/components/shell/Toasts';
import type { JsonSchema } from '@/lib/schema';
import { EstimateCard, EstimateLine } from './EstimateCard';
import {
  budgetSchema,
  draftsFor,
  firstForm,
  merged,
  NOTHING,
  ownOptimizer,
  readForm,
  refused,
  SEED,
  type KindSchemas,
  type NewRunBody,
  type NewRunForm,
  type Project,
} from './form';
import { useChoices, useEstimate } from './data';

/** Starts a run: what to improve, on which items, how, and for how much. */
export default function NewRun({ onClose }: { onClose: () => void }) {
  const choices = useChoices();
  const { project, agents, suites, kinds } = choices;
  const failed = project.error ?? kinds.error;
  if (project.data && kinds.data)
    return (
      <Form
        project={project.data}
        agents={names([project.data.agent], agents.data?.items)}
        suites={names([project.data.suite], suites.data?.items)}
        kinds={kinds.data}
        onClose={onClose}
      />
    );
  return (
    <Dialog title="New run" onClose={onClose} wide>
      {failed ? (
        <Failure error={failed} retry={() => void project.refetch()} />
      ) : (
        <Loading lines={6} what="Loading what can be chosen" />
      )}
    </Dialog>
  );
}

function names(own: string[], listed: readonly { name: string }[] | undefined): string[] {
  return [...new Set([...own, ...(listed ?? []).map((one) => one.name)])];
}

type Kinds = NonNullable<ReturnType<typeof useChoices>['kinds']['data']>;

function schemasOf(kinds: Kinds, optimizer: string): KindSchemas {
  const kind = kinds.items.find((one) => one.name === optimizer);
  return {
    settings: (kind?.settings as JsonSchema | undefined) ?? NOTHING,
    framework: kinds.framework as JsonSchema,
  };
}

function Form({
  project,
  agents,
  suites,
  kinds,
  onClose,
}: {
  project: Project;
  agents: readonly string[];
  suites: readonly string[];
  kinds: Kinds;
  onClose: () => void;
}) {
  const [form, setForm] = useState(() =>
    firstForm(project, schemasOf(kinds, ownOptimizer(project))),
  );
  const change = (changes: Partial<NewRunForm>) => setForm((old) => ({ ...old, ...changes }));
  const kind = kinds.items.find((one) => one.name === form.optimizer);
  const schemas = schemasOf(kinds, form.optimizer);
  const { body, problems: own, usable } = readForm(form, project, schemas);
  const estimate = useEstimate(usable ? body : null);
  const start = useStart();
  const refusal = start.error ?? (usable ? estimate.error : null);
  const said = refused(refusal instanceof ApiError ? refusal.problems : [], schemas);
  const problems = merged(own, said.problems);
  const count = (schema: JsonSchema) => Object.keys(schema.properties ?? {}).length;
  return (
    <Dialog
      title="New run"
      onClose={onClose}
      wide
      foot={
        <>
          <EstimateLine estimate={usable && !estimate.error ? estimate.data : undefined} />
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            form="new-run"
            className="btn primary"
            disabled={!usable || start.isPending}
          >
            {start.isPending ? 'Starting…' : 'Start run'}
          </button>
        </>
      }
    >
      <form
        id="new-run"
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (usable) start.mutate(body);
        }}
      >
        <Field label="Name" hint="For the list; without one it is named after the agent.">
          {(given) => (
            <input
              {...given}
              data-autofocus
              className="input"
              value={form.name}
              maxLength={200}
              autoComplete="off"
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <div className="runs-three">
          <Choice
            label="Agent"
            hint="What is to become better."
            value={form.agent}
            options={agents}
            onChange={(agent) => change({ agent })}
          />
          <Choice
            label="Suite"
            hint="The items and scorers that judge it."
            value={form.suite}
            options={suites}
            onChange={(suite) => change({ suite })}
          />
          <Choice
            label="Optimizer"
            hint={<Ticked text={kind?.summary ?? ''} />}
            value={form.optimizer}
            options={kinds.items.map((one) => one.name)}
            onChange={(optimizer) =>
              change(draftsFor(project, optimizer, schemasOf(kinds, optimizer)))
            }
          />
        </div>
        <Fold title={`Settings of ${form.optimizer}`} count={count(schemas.settings)}>
          <SchemaForm
            schema={schemas.settings}
            draft={form.settings}
            problems={problems.settings}
            models={project.models}
            onChange={(settings) => change({ settings })}
          />
        </Fold>
        <Fold title="How trials are run" count={count(schemas.framework)}>
          <SchemaForm
            schema={schemas.framework}
            draft={form.framework}
            problems={problems.framework}
            models={project.models}
            onChange={(framework) => change({ framework })}
          />
        </Fold>
        <fieldset className="runs-fieldset stack tight">
          <legend>Budget: it ends at the first limit that it reaches</legend>
          <SchemaForm
            schema={budgetSchema(project)}
            draft={form.budget}
            problems={problems.budget}
            onChange={(budget) => change({ budget })}
          />
        </fieldset>
        <SchemaForm
          schema={SEED}
          draft={form.seed}
          problems={problems.seed}
          onChange={(seed) => change({ seed })}
        />
        <EstimateCard
          estimate={usable && !estimate.error ? estimate.data : undefined}
          waiting={estimate.waiting}
        />
        {refusal && <Failure error={refusal} />}
      </form>
    </Dialog>
  );
}

function useStart() {
  const cache = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: (body: NewRunBody) => answer(api.POST('/v1/private/optimizations', { body })),
    onSuccess: (made) => {
      cache.setQueryData(['run', made.optimization_id], made);
      void cache.invalidateQueries({ queryKey: ['runs'] });
      say(`Started ${made.name}`);
      go(`/runs/${made.optimization_id}`);
    },
  });
}

function Choice({
  label,
  hint,
  value,
  options,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(given) => (
        <select
          {...given}
          className="select"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Fold({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  if (count === 0) return null;
  return (
    <details className="runs-fold">
      <summary>
        {title} <span className="muted">({count})</span>
      </summary>
      {children}
    </details>
  );
}
