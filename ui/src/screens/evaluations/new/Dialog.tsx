import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAgentNames, useSubjects, useSuites } from '@/api/choices';
import { answer, api } from '@/api/client';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { FormDialog, MissingDialog, WaitingDialog } from '@/components/form/FormDialog';
import { Failure } from '@/components/States';
import { say } from '@/components/shell/Toasts';
import { useEvaluation, useVersions } from '../data';
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
} from './form';
import { RefineFields } from './RefineFields';
import { judgesOf, type SuiteView } from '../suite';
import { counted } from '../../../lib/format';

const TITLE = 'New evaluation';

/** Starts an evaluation; `from` names one to begin with. */
export default function NewEvaluation({
  from,
  of = '',
  onClose,
}: {
  from: string;
  /** The agent that is chosen at first. */
  of?: string;
  onClose: () => void;
}) {
  const subjects = useSubjects();
  const like = useEvaluation(from);
  const found = subjects.data;
  if (found && (found.agent === '' || found.suite === ''))
    return <MissingDialog title={TITLE} {...found} onClose={onClose} />;
  if (found && (from === '' || like.data))
    return (
      <Form
        first={like.data ? formLike(like.data) : firstForm({ ...found, ...chosen(found, of) })}
        own={found}
        onClose={onClose}
      />
    );
  return (
    <WaitingDialog
      title={TITLE}
      error={subjects.error ?? like.error}
      retry={subjects.refetch}
      onClose={onClose}
    />
  );
}

function chosen(found: { agents: readonly string[] }, of: string): { agent?: string } {
  return found.agents.includes(of) ? { agent: of } : {};
}

function Form({
  first,
  own,
  onClose,
}: {
  first: NewEvaluationForm;
  own: { agent: string; suite: string };
  onClose: () => void;
}) {
  const [form, setForm] = useState(first);
  const change = (changes: Partial<NewEvaluationForm>) =>
    setForm((old) => ({ ...old, ...changes }));
  const agents = useAgentNames();
  const suites = useSuites();
  const versions = useVersions(form.agent);
  const suite = suites.data?.items.find((one) => one.name === form.suite);
  const agent = agents.data?.items.find((one) => one.name === form.agent);
  const { body, problems, usable } = readForm(form, suite, agent);
  const start = useStart();
  const known = (chosen: string, first: string, listed: readonly { name: string }[] | undefined) =>
    [...new Set([chosen, first, ...(listed ?? []).map((one) => one.name)])].sort();
  return (
    <FormDialog
      id="new-evaluation"
      title={TITLE}
      wide
      usable={usable && suite !== undefined && agent !== undefined}
      busy={start.isPending}
      submit="Start evaluation"
      submitting="Starting…"
      onSubmit={() => start.mutate(body)}
      onClose={onClose}
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
          options={known(form.agent, own.agent, agents.data?.items)}
        />
        <Choice
          label="Version"
          hint="The active one is what callers get now."
          value={form.version}
          onChange={(version) => change({ version })}
          options={versionOptions(agent, versions.data?.items ?? [], form.version)}
        />
        <Choice
          label="Suite"
          hint={suite ? <SuiteHint suite={suite} /> : 'Items, and the scorers that judge them.'}
          value={form.suite}
          onChange={(name) => change({ suite: name })}
          options={known(form.suite, own.suite, suites.data?.items)}
        />
        <Choice
          label="Split"
          hint="Keep test for the very end: what you look at often stops being unseen."
          value={form.split}
          onChange={(split) => change({ split })}
          options={SPLITS.map((split) => ({
            value: split,
            label: split === '' ? 'All items' : split,
            disabled: split !== '' && suite?.split === null,
          }))}
        />
        {form.like !== null && form.like.failed > 0 && (
          <Choice
            label="Items"
            hint="Of the evaluation that this one is like."
            value={form.onlyFailing ? 'failing' : 'all'}
            onChange={(items) => change({ onlyFailing: items === 'failing' })}
            options={[
              { value: 'all', label: 'All items' },
              { value: 'failing', label: 'Those that failed there' },
            ]}
          />
        )}
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
        <Limit
          label="US dollars at most"
          value={form.maxCost}
          problem={problems.maxCost}
          onChange={(maxCost) => change({ maxCost })}
        />
        <Limit
          label="Seconds at most"
          value={form.maxSeconds}
          problem={problems.maxSeconds}
          onChange={(maxSeconds) => change({ maxSeconds })}
        />
      </div>
      <RefineFields
        value={refineNow(form, suite)}
        suite={suite}
        problems={problems}
        onChange={(changes) => change({ refine: { ...form.refine, ...changes } })}
      />
      {suites.error && <Failure error={suites.error} retry={() => void suites.refetch()} />}
      {agents.error && <Failure error={agents.error} retry={() => void agents.refetch()} />}
      {start.error && <Failure error={start.error} />}
    </FormDialog>
  );
}

function Limit({
  label,
  value,
  problem,
  onChange,
}: {
  label: string;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} hint="Then it ends early and keeps what there is." problem={problem}>
      {(given) => (
        <input
          {...given}
          className="input"
          inputMode="decimal"
          placeholder="no limit"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
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
  const scorers = counted(suite.scorers.length, 'scorer');
  const repeats = suite.repeats > 1 ? `, each item ${suite.repeats} times` : '';
  // The mode says whether judges are asked: without one it says nothing.
  const mode = suite.mode === 'schema' ? 'Schema mode, ' : 'LLM mode, ';
  return <>{`${judgesOf(suite).length > 0 ? mode : ''}${scorers}${repeats}.`}</>;
}
