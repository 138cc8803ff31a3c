import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { answer, api } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { Field } from '@/components/form/Field';
import { Failure, Loading } from '@/components/States';
import { say } from '@/components/shell/Toasts';
import { useChoices, useEvaluation } from '../data';
import {
  ACTIVE,
  firstForm,
  formLike,
  readForm,
  refineNow,
  SPLITS,
  versionOptions,
  type NewEvaluationBody,
  type NewEvaluationForm,
  type Split,
} from './form';
import { RefineFields } from './RefineFields';
import type { SuiteView } from '../suite';

const TITLE = 'New evaluation';

/** Starts an evaluation; `from` names one to begin with. */
export default function NewEvaluation({ from, onClose }: { from: string; onClose: () => void }) {
  const { project } = useChoices('');
  const like = useEvaluation(from);
  const failed = project.error ?? like.error;
  if (project.data && (from === '' || like.data))
    return (
      <Form
        first={like.data ? formLike(like.data) : firstForm(project.data)}
        models={project.data.models}
        own={project.data}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={TITLE} onClose={onClose} wide>
      {failed ? (
        <Failure error={failed} retry={() => void project.refetch()} />
      ) : (
        <Loading lines={6} what="Loading what can be chosen" />
      )}
    </Dialog>
  );
}

function Form({
  first,
  models,
  own,
  onClose,
}: {
  first: NewEvaluationForm;
  models: readonly string[];
  own: { agent: string; suite: string };
  onClose: () => void;
}) {
  const [form, setForm] = useState(first);
  const change = (changes: Partial<NewEvaluationForm>) =>
    setForm((old) => ({ ...old, ...changes }));
  const { agents, suites, versions } = useChoices(form.agent);
  const suite = suites.data?.items.find((one) => one.name === form.suite);
  const agent = agents.data?.items.find((one) => one.name === form.agent);
  const { body, problems, usable } = readForm(form, suite, agent);
  const start = useStart();
  const known = (chosen: string, first: string, listed: readonly { name: string }[] | undefined) =>
    [...new Set([chosen, first, ...(listed ?? []).map((one) => one.name)])].sort();
  return (
    <Dialog
      title={TITLE}
      onClose={onClose}
      wide
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            form="new-evaluation"
            className="btn primary"
            disabled={!usable || !suite || !agent || start.isPending}
          >
            {start.isPending ? 'Starting…' : 'Start evaluation'}
          </button>
        </>
      }
    >
      <form
        id="new-evaluation"
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (usable) start.mutate(body);
        }}
      >
        <Field label="Name" hint="For the list; without one it is named after agent and suite.">
          {(given) => (
            <input
              {...given}
              data-autofocus
              className="input"
              maxLength={200}
              autoComplete="off"
              value={form.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <div className="evals-fields">
          <Choice
            label="Agent"
            hint="What is evaluated."
            value={form.agent}
            onChange={(name) => change({ agent: name, version: ACTIVE })}
          >
            {known(form.agent, own.agent, agents.data?.items).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Choice>
          <Choice
            label="Version"
            hint="The active one is what callers get now."
            value={form.version}
            onChange={(version) => change({ version })}
          >
            {versionOptions(agent, versions.data?.items ?? [], form.version).map((one) => (
              <option key={one.value} value={one.value}>
                {one.label}
              </option>
            ))}
          </Choice>
          <Choice
            label="Suite"
            hint={suite ? <SuiteHint suite={suite} /> : 'Items, and the scorers that judge them.'}
            value={form.suite}
            onChange={(name) => change({ suite: name, refine: {} })}
          >
            {known(form.suite, own.suite, suites.data?.items).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Choice>
          <Choice
            label="Split"
            hint="Keep test for the very end: what you look at often stops being unseen."
            value={form.split}
            onChange={(split) => change({ split: split as Split })}
          >
            {SPLITS.map((split) => (
              <option key={split} value={split} disabled={split !== '' && suite?.split === null}>
                {split === '' ? 'All items' : split}
              </option>
            ))}
          </Choice>
          <Field label="Items at most" hint="Nothing: all of them." problem={problems.limit}>
            {(given) => (
              <input
                {...given}
                className="input"
                inputMode="numeric"
                placeholder="all"
                value={form.limit}
                onChange={(event) => change({ limit: event.target.value })}
              />
            )}
          </Field>
        </div>
        <RefineFields
          value={refineNow(form, suite)}
          suite={suite}
          models={models}
          problems={problems}
          onChange={(changes) => change({ refine: { ...form.refine, ...changes } })}
        />
        {suites.error && <Failure error={suites.error} retry={() => void suites.refetch()} />}
        {agents.error && <Failure error={agents.error} retry={() => void agents.refetch()} />}
        {start.error && <Failure error={start.error} />}
      </form>
    </Dialog>
  );
}

function useStart() {
  const cache = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: (body: NewEvaluationBody) => answer(api.POST('/v1/private/evaluations', { body })),
    onSuccess: (made) => {
      cache.setQueryData(['evaluation', made.experiment_id], made);
      void cache.invalidateQueries({ queryKey: ['evaluations'] });
      say(`Started ${made.name}`);
      go(`/evaluations/${made.experiment_id}`);
    },
  });
}

function SuiteHint({ suite }: { suite: SuiteView }) {
  const scorers = suite.scorers.length === 1 ? '1 scorer' : `${suite.scorers.length} scorers`;
  const repeats = suite.repeats > 1 ? `, each item ${suite.repeats} times` : '';
  return <>{`${suite.mode === 'schema' ? 'Schema mode' : 'LLM mode'}, ${scorers}${repeats}.`}</>;
}

function Choice({
  label,
  hint,
  value,
  onChange,
  children,
}: {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
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
          {children}
        </select>
      )}
    </Field>
  );
}
