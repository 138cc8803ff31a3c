import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { answer, api, ApiError } from '@/api/client';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { FormDialog } from '@/components/form/FormDialog';
import { SchemaForm } from '@/components/form/SchemaForm';
import { Failure } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import { Ticked } from '@/components/form/Ticked';
import { say } from '@/components/shell/Toasts';
import type { JsonSchema } from '@/lib/schema';
import { useColumns, useDatasets, useScorers } from '../data';
import {
  firstSuite,
  readSuite,
  REFINE,
  refusedScorers,
  REST,
  SHARES,
  suiteLike,
  type ScorerDraft,
  type SuiteBody,
  type SuiteView,
} from './form';
import { counted } from '../../../lib/format';

/** A suite on a stored dataset: which items, judged how. */
export default function NewSuite({
  dataset,
  like,
  onClose,
}: {
  dataset: string;
  like?: SuiteView;
  onClose: () => void;
}) {
  const [form, setForm] = useState(() => (like ? suiteLike(like) : firstSuite(dataset)));
  const change = (changes: Partial<typeof form>) => setForm((old) => ({ ...old, ...changes }));
  const datasets = useDatasets();
  const columns = useColumns(form.dataset);
  const kinds = useScorers().data?.items.filter((kind) => kind.over_http) ?? [];
  const schemas = new Map(kinds.map((kind) => [kind.kind, kind.settings as JsonSchema]));
  const { body, problems, usable } = readSuite(form, schemas);
  const save = useSave();
  const said = save.error instanceof ApiError ? save.error.problems : [];
  const refused = refusedScorers(said, form.scorers.length);
  const setScorer = (index: number, scorer: ScorerDraft | null) =>
    change({
      scorers: form.scorers.flatMap((old, at) => (at !== index ? [old] : scorer ? [scorer] : [])),
    });
  return (
    <FormDialog
      id="new-suite"
      title={like ? `New version of ${like.name}` : 'New suite'}
      wide
      usable={usable}
      busy={save.isPending}
      submit="Save suite"
      submitting="Saving…"
      onSubmit={() => save.mutate(body)}
      onClose={onClose}
    >
      <div className="two">
        <Field
          label="Name"
          hint="A name that is there already becomes a new version."
          problem={problems.name}
        >
          {(given) => (
            <input
              {...given}
              data-autofocus
              className="input"
              autoComplete="off"
              value={form.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <Choice
          label="Dataset"
          value={form.dataset}
          options={[
            { value: '', label: 'Choose…' },
            ...(datasets.data?.items ?? []).map((one) => ({
              value: one.dataset_id,
              label: `${one.name} (${counted(one.items, 'item')})`,
            })),
          ]}
          onChange={(dataset) => change({ dataset })}
        />
      </div>
      {datasets.data?.items.length === 0 && (
        <p className="muted">
          No dataset is stored, and a suite takes its items from one.{' '}
          <Link href="/suites?new=dataset">Upload one</Link>
        </p>
      )}
      <h3>Scorers</h3>
      {form.scorers.map((scorer, index) => (
        <ScorerFields
          key={index}
          scorer={scorer}
          kinds={kinds}
          schema={schemas.get(scorer.kind)}
          columns={columns}
          problems={{ ...refused[index], ...problems.scorers[index] }}
          onChange={(next) => setScorer(index, next)}
          onRemove={form.scorers.length > 1 ? () => setScorer(index, null) : null}
        />
      ))}
      <button
        type="button"
        className="btn small data-add"
        onClick={() =>
          change({ scorers: [...form.scorers, { kind: 'exact_match', settings: {} }] })
        }
      >
        Add a scorer
      </button>
      <h3>Split</h3>
      <Segmented
        label="How items are split"
        chosen={form.split}
        onChoose={(split) => change({ split })}
        options={[
          { value: 'shares', label: 'By shares' },
          { value: 'field', label: 'As each item says' },
          { value: 'none', label: 'Not at all' },
        ]}
      />
      {form.split === 'shares' && (
        <SchemaForm
          schema={SHARES}
          draft={form.shares}
          problems={problems.shares}
          onChange={(shares) => change({ shares })}
        />
      )}
      <SchemaForm
        schema={REST}
        draft={form.rest}
        problems={problems.rest}
        onChange={(rest) => change({ rest })}
      />
      <h3>Refinement</h3>
      <SchemaForm
        schema={REFINE}
        draft={form.refine}
        problems={problems.refine}
        onChange={(refine) => change({ refine })}
      />
      {save.error && <Failure error={save.error} />}
    </FormDialog>
  );
}

function useSave() {
  const cache = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: (body: SuiteBody) => answer(api.POST('/v1/private/suites', { body })),
    onSuccess: (suite) => {
      void cache.invalidateQueries({ queryKey: ['suites'] });
      void cache.invalidateQueries({ queryKey: ['suite', suite.name] });
      say(`Saved ${suite.name} as version ${suite.version}`);
      go(`/suites/${encodeURIComponent(suite.name)}`);
    },
  });
}

function ScorerFields({
  scorer,
  kinds,
  schema,
  columns,
  problems,
  onChange,
  onRemove,
}: {
  scorer: ScorerDraft;
  kinds: readonly { kind: string; summary: string }[];
  schema: JsonSchema | undefined;
  columns: readonly string[];
  problems: Readonly<Record<string, string>>;
  onChange: (scorer: ScorerDraft) => void;
  onRemove: (() => void) | null;
}) {
  const summary = kinds.find((kind) => kind.kind === scorer.kind)?.summary ?? '';
  return (
    <fieldset className="data-scorer stack tight">
      <legend className="sr-only">{`Scorer ${scorer.kind}`}</legend>
      <div className="row between">
        <div className="grow">
          <Choice
            label="Kind"
            hint={<Ticked text={summary} />}
            value={scorer.kind}
            options={kinds.map((kind) => kind.kind)}
            onChange={(kind) => onChange({ kind, settings: {} })}
          />
        </div>
        {onRemove && (
          <button type="button" className="btn small" onClick={onRemove}>
            Remove
          </button>
        )}
      </div>
      {schema && (
        <details open>
          <summary>Settings</summary>
          <SchemaForm
            schema={schema}
            draft={scorer.settings}
            problems={problems}
            columns={columns}
            onChange={(settings) => onChange({ ...scorer, settings })}
          />
        </details>
      )}
    </fieldset>
  );
}
