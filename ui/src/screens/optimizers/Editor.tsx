import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAgentNames, useOptimizerKinds, useProject, useSuites } from '@/api/choices';
import { answer, api, ApiError } from '@/api/client';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { SchemaForm } from '@/components/form/SchemaForm';
import { Failure, Loading } from '@/components/States';
import { Ticked } from '@/components/form/Ticked';
import { say } from '@/components/shell/Toasts';
import type { JsonSchema } from '@/lib/schema';
import { agentQuery } from '@/screens/agents/data';
import { EstimateCard } from '@/screens/runs/new/EstimateCard';
import { useConfigEstimate, type Config } from './data';
import {
  bothProblems,
  BUDGET,
  firstForm,
  firstSettings,
  formOf,
  readConfig,
  refusedConfig,
  settingsSchema,
  WHEN,
  type ConfigBody,
} from './form';
import { cronWords, PRESETS } from './cron';
import '@/screens/runs/runs.css';

type Kinds = NonNullable<ReturnType<typeof useOptimizerKinds>['data']>;

/** The form of one that is stored, or of a new one. */
export function Editor({ agent, stored }: { agent: string; stored: Config | null }) {
  const kinds = useOptimizerKinds();
  if (kinds.error) return <Failure error={kinds.error} retry={() => void kinds.refetch()} />;
  if (!kinds.data) return <Loading lines={8} />;
  return <Form agent={agent} stored={stored} kinds={kinds.data} />;
}

function Form({ agent, stored, kinds }: { agent: string; stored: Config | null; kinds: Kinds }) {
  const kindOf = (name: string) => kinds.items.find((kind) => kind.name === name);
  const framework = kinds.framework as JsonSchema;
  const [form, setForm] = useState(() =>
    stored
      ? formOf(stored.config, kindOf(String(stored.config.optimizer)), framework)
      : firstForm(kindOf('gepa') ? 'gepa' : (kinds.items[0]?.name ?? '')),
  );
  const change = (changes: Partial<typeof form>) => setForm((old) => ({ ...old, ...changes }));
  const project = useProject();
  const suites = useSuites();
  const agents = useAgentNames();
  const [, go] = useLocation();
  const kind = kindOf(form.optimizer);
  const { body, problems: own, usable } = readConfig(form, kind, framework);
  const { data: shown } = useQuery(agentQuery(agent));
  const sections = Object.keys((shown?.configuration.sections ?? {}) as object);
  const estimate = useConfigEstimate(agent, usable ? body : null);
  const save = useSave(agent, stored?.version ?? 0);
  const refusal = save.error ?? (usable ? estimate.error : null);
  const problems = bothProblems(
    own,
    refusedConfig(refusal instanceof ApiError ? refusal.problems : []),
  );
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (usable) save.mutate(body);
      }}
    >
      <div className="optimizers-grid">
        <Field
          label="Name"
          hint={stored ? 'Saving makes a new version of it.' : undefined}
          problem={problems.name}
        >
          {(given) => (
            <input
              {...given}
              className="input"
              value={form.name}
              disabled={stored !== null}
              autoComplete="off"
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <Choice
          label="Agent"
          hint="What is to become better."
          value={agent}
          disabled={stored !== null}
          options={agents.data?.items.map((one) => one.name) ?? [agent]}
          onChange={(name) => go(`/optimizers/${encodeURIComponent(name)}/new`)}
        />
        <Choice
          label="Suite"
          hint="The items and scorers that judge it."
          value={form.suite}
          options={[
            project.data?.suite === null
              ? { value: '', label: 'Choose…' }
              : { value: '', label: `The project’s own (${project.data?.suite ?? '…'})` },
            ...(suites.data?.items ?? [])
              .filter((one) => one.source !== 'configuration' || one.suite_id === form.suite)
              .map(({ suite_id, name }) => ({ value: suite_id, label: name })),
          ]}
          onChange={(suite) => change({ suite })}
        />
        <Choice
          label="Optimizer"
          hint={<Ticked text={kind?.summary ?? ''} />}
          value={form.optimizer}
          options={kinds.items.map((one) => one.name)}
          onChange={(optimizer) => change({ optimizer, settings: firstSettings(optimizer) })}
        />
      </div>
      <fieldset className="optimizers-part">
        <legend>Settings of {form.optimizer}</legend>
        <SchemaForm
          schema={settingsSchema(kind, framework, sections)}
          draft={form.settings}
          problems={problems.settings}
          onChange={(settings) => change({ settings })}
        />
      </fieldset>
      <fieldset className="optimizers-part">
        <legend>Budget of each run: it ends at the first limit that it reaches</legend>
        <SchemaForm
          schema={BUDGET}
          draft={form.budget}
          problems={problems.budget}
          onChange={(budget) => change({ budget })}
        />
      </fieldset>
      <fieldset className="optimizers-part stack">
        <legend>When and how</legend>
        <ScheduleFields
          schedule={form.schedule}
          zone={form.when.schedule_timezone || 'UTC'}
          problem={problems.schedule}
          onChange={(schedule) => change({ schedule })}
        />
        <SchemaForm
          schema={WHEN}
          draft={form.when}
          problems={problems.when}
          onChange={(when) => change({ when })}
        />
        <label className="optimizers-check">
          <input
            type="checkbox"
            checked={form.autoPromote}
            onChange={(event) => change({ autoPromote: event.target.checked })}
          />
          <span>
            <strong>Promote winners without a person</strong>
            <span className="hint">
              Only where held-out items prove the winner; with every run that looks at the same
              items, the proof has to be stronger. The agent changes with nobody looking.
            </span>
          </span>
        </label>
      </fieldset>
      <EstimateCard
        estimate={usable && !estimate.error ? estimate.data : undefined}
        waiting={usable && estimate.waiting}
      />
      {refusal && <Refusal error={refusal} />}
      <div className="row">
        <button type="submit" className="btn primary" disabled={!usable || save.isPending}>
          {save.isPending ? 'Saving…' : stored ? 'Save as a new version' : 'Save optimizer'}
        </button>
        {form.name === '' && <span className="muted small">It needs a name.</span>}
      </div>
    </form>
  );
}

function Refusal({ error }: { error: Error }) {
  const moved = error instanceof ApiError && error.status === 409;
  return (
    <>
      <Failure error={error} />
      {moved && (
        <p className="small">
          Somebody saved another version meanwhile. Load the page again to see it: what you typed
          here is lost then, so copy it first.
        </p>
      )}
    </>
  );
}

function useSave(agent: string, version: number) {
  const cache = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: (body: ConfigBody) =>
      answer(
        api.POST('/planar/v1/agents/{agent}/optimizers/', {
          params: { path: { agent } },
          body: { ...body, expected_version: version } as never,
        }),
      ),
    onSuccess: (saved) => {
      void cache.invalidateQueries({ queryKey: ['configs', agent] });
      say(`Saved ${saved.name} as version ${saved.version}`);
      go(`/optimizers/${encodeURIComponent(agent)}/${encodeURIComponent(saved.name)}`);
    },
  });
}

const OWN = 'own';

/** A schedule out of a few, or one of one's own. */
function ScheduleFields({
  schedule,
  zone,
  problem,
  onChange,
}: {
  schedule: string;
  zone: string;
  problem: string | null;
  onChange: (schedule: string) => void;
}) {
  const known = PRESETS.some((preset) => preset.value === schedule);
  const [own, setOwn] = useState(!known);
  return (
    <div className="optimizers-grid">
      <Choice
        label="Runs"
        value={own ? OWN : schedule}
        options={[...PRESETS, { value: OWN, label: 'As I write it…' }]}
        onChange={(chosen) => {
          setOwn(chosen === OWN);
          if (chosen !== OWN) onChange(chosen);
        }}
      />
      {own && (
        <Field
          label="Schedule"
          hint={`Minute, hour, day, month, weekday. ${cronWords(schedule, zone)}.`}
          problem={problem}
        >
          {(given) => (
            <input
              {...given}
              className="input mono"
              value={schedule}
              maxLength={100}
              autoComplete="off"
              placeholder="0 2 * * *"
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      )}
    </div>
  );
}
