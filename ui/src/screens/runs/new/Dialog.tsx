import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import {
  useAgentNames,
  useOptimizerKinds,
  useSettledEstimate,
  useSubjects,
  type Subjects,
} from '@/api/choices';
import { answer, api, ApiError } from '@/api/client';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { FormDialog, MissingDialog, WaitingDialog } from '@/components/form/FormDialog';
import { SchemaForm } from '@/components/form/SchemaForm';
import { Failure } from '@/components/States';
import { Ticked } from '@/components/form/Ticked';
import { say } from '@/components/shell/Toasts';
import { asConfiguration } from '@/lib/configurations';
import { offering, type JsonSchema } from '@/lib/schema';
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
} from './form';

/** Starts a run: what to improve, on which items, how, and for how much. */
export default function NewRun({
  agent = '',
  suite = '',
  onClose,
}: {
  /** What is chosen at first. */
  agent?: string;
  suite?: string;
  onClose: () => void;
}) {
  const subjects = useSubjects();
  const kinds = useOptimizerKinds();
  const found = subjects.data;
  if (found && (found.agent === '' || found.suite === ''))
    return <MissingDialog title="New run" {...found} onClose={onClose} />;
  if (found && kinds.data)
    return (
      <Form
        subjects={{
          ...found,
          agent: found.agents.includes(agent) ? agent : found.agent,
          suite: found.suites.includes(suite) ? suite : found.suite,
        }}
        kinds={kinds.data}
        onClose={onClose}
      />
    );
  return (
    <WaitingDialog
      title="New run"
      error={subjects.error ?? kinds.error}
      retry={subjects.refetch}
      onClose={onClose}
    />
  );
}

/** Settings that name sections of the agent. */
const OF_SECTIONS = ['mutation_strategies', 'sections'];

type Kinds = NonNullable<ReturnType<typeof useOptimizerKinds>['data']>;

function schemasOf(kinds: Kinds, optimizer: string): KindSchemas {
  const kind = kinds.items.find((one) => one.name === optimizer);
  return {
    settings: (kind?.settings as JsonSchema | undefined) ?? NOTHING,
    framework: kinds.framework as JsonSchema,
  };
}

function Form({
  subjects,
  kinds,
  onClose,
}: {
  subjects: Subjects;
  kinds: Kinds;
  onClose: () => void;
}) {
  const { project, agents, suites } = subjects;
  const [form, setForm] = useState(() =>
    firstForm(subjects, schemasOf(kinds, ownOptimizer(project))),
  );
  const change = (changes: Partial<NewRunForm>) => setForm((old) => ({ ...old, ...changes }));
  const kind = kinds.items.find((one) => one.name === form.optimizer);
  const agent = useAgentNames().data?.items.find((one) => one.name === form.agent);
  const sections = Object.keys(asConfiguration(agent?.configuration).sections);
  const found = schemasOf(kinds, form.optimizer);
  const schemas = { ...found, settings: offering(found.settings, OF_SECTIONS, sections) };
  const { body, problems: own, usable } = readForm(form, project, schemas);
  const estimate = useEstimate(usable ? body : null);
  const start = useStart();
  const refusal = start.error ?? (usable ? estimate.error : null);
  const said = refused(refusal instanceof ApiError ? refusal.problems : [], schemas);
  const problems = merged(own, said.problems);
  const count = (schema: JsonSchema) => Object.keys(schema.properties ?? {}).length;
  return (
    <FormDialog
      id="new-run"
      title="New run"
      wide
      usable={usable}
      busy={start.isPending}
      submit="Start run"
      submitting="Starting…"
      note={<EstimateLine estimate={usable && !estimate.error ? estimate.data : undefined} />}
      onSubmit={() => start.mutate(body)}
      onClose={onClose}
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
          onChange={(settings) => change({ settings })}
        />
      </Fold>
      <Fold title="How trials are run" count={count(schemas.framework)}>
        <SchemaForm
          schema={schemas.framework}
          draft={form.framework}
          problems={problems.framework}
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
    </FormDialog>
  );
}

const TYPING_MS = 400;

function useEstimate(body: NewRunBody | null) {
  return useSettledEstimate(['estimate'], body, TYPING_MS, (asked, signal) =>
    answer(api.POST('/v1/private/optimizations/estimate', { body: asked, signal })),
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
