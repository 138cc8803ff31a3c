import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { MANY } from '@/api/choices';
import { answer, api, type Schemas } from '@/api/client';
import { Choice } from '@/components/form/Choice';
import { Field } from '@/components/form/Field';
import { FormDialog } from '@/components/form/FormDialog';
import { say } from '@/components/shell/Toasts';
import { Failure } from '@/components/States';
import { counted, shortId } from '@/lib/format';
import { useDatasets } from '@/screens/data/data';
import { KINDS } from './data';
import { EMPTY, newSet, type Draft } from './form';

type Kind = Schemas['LabelKind'];

function useRuns() {
  return useQuery({
    queryKey: ['labels', 'runs'],
    queryFn: () =>
      answer(api.GET('/v1/private/evaluations', { params: { query: { limit: MANY } } })),
  });
}

/** A label set of an evaluation's outputs, of two for preferences, or of a dataset's rows. */
export default function NewLabelSet({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const change = (next: Partial<Draft>) => setDraft({ ...draft, ...next });
  const cache = useQueryClient();
  const [, go] = useLocation();
  const runs = useRuns();
  const datasets = useDatasets();
  const make = useMutation({
    mutationFn: (body: Schemas['NewLabelSet']) =>
      answer(api.POST('/v1/private/label-sets', { body })),
    onSuccess: (made) => {
      const left = Object.entries(made.left_out).map(([why, number]) => `${number} ${why}`);
      say(
        `${counted(made.items, 'item')} to label${left.length ? `; left out: ${left.join(', ')}` : ''}`,
      );
      void cache.invalidateQueries({ queryKey: ['labels'] });
      go(`/labels/${encodeURIComponent(made.name)}`);
    },
  });
  const body = newSet(draft);
  const choose = { value: '', label: 'Choose…' };
  const runOptions = [
    choose,
    ...(runs.data?.items ?? []).map((one) => ({
      value: one.experiment_id,
      label: `${one.name} · ${shortId(one.experiment_id)}`,
    })),
  ];
  const text = (name: 'name' | 'classes' | 'instructions' | 'low' | 'high' | 'limit') => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }),
  });
  return (
    <FormDialog
      id="new-label-set"
      title="New label set"
      wide
      usable={body !== null}
      busy={make.isPending}
      submit="Make it"
      submitting="Making…"
      onSubmit={() => body && make.mutate(body)}
      onClose={onClose}
    >
      <div className="two">
        <Field label="Name" hint="Letters, digits, dots, dashes.">
          {(given) => (
            <input {...given} data-autofocus className="input" maxLength={100} {...text('name')} />
          )}
        </Field>
        <Choice
          label="What a label is"
          value={draft.kind}
          options={(Object.keys(KINDS) as Kind[]).map((value) => ({ value, label: KINDS[value] }))}
          onChange={(kind) => change({ kind })}
        />
        <Choice
          label="What is labelled"
          value={draft.from}
          options={[
            {
              value: 'run',
              label: draft.kind === 'preference' ? 'Two evaluations' : 'An evaluation',
            },
            { value: 'dataset', label: 'A dataset' },
          ]}
          onChange={(from) => change({ from })}
        />
        {draft.from === 'dataset' ? (
          <Choice
            label="Dataset"
            value={draft.dataset}
            options={[
              choose,
              ...(datasets.data?.items ?? []).map((one) => ({
                value: one.dataset_id,
                label: `${one.name} (${counted(one.items, 'item')})`,
              })),
            ]}
            onChange={(dataset) => change({ dataset })}
          />
        ) : (
          <Choice
            label="Evaluation"
            value={draft.run}
            options={runOptions}
            onChange={(run) => change({ run })}
          />
        )}
        {draft.from === 'run' && draft.kind === 'preference' && (
          <Choice
            label="Compared with"
            value={draft.other}
            options={runOptions}
            onChange={(other) => change({ other })}
          />
        )}
        {draft.kind === 'score' && (
          <>
            <Field label="Lowest score">
              {(given) => (
                <input {...given} className="input" inputMode="numeric" {...text('low')} />
              )}
            </Field>
            <Field label="Highest score">
              {(given) => (
                <input {...given} className="input" inputMode="numeric" {...text('high')} />
              )}
            </Field>
          </>
        )}
        {draft.kind === 'class' && (
          <Field label="Classes" hint="One on each line, up to ten: each has a key.">
            {(given) => <textarea {...given} className="textarea" rows={3} {...text('classes')} />}
          </Field>
        )}
        <Field label="At most so many items" hint="Empty: all.">
          {(given) => <input {...given} className="input" inputMode="numeric" {...text('limit')} />}
        </Field>
      </div>
      <Field label="Instructions" hint="What people are to go by; they stand above each item.">
        {(given) => (
          <textarea
            {...given}
            className="textarea"
            rows={2}
            maxLength={2000}
            {...text('instructions')}
          />
        )}
      </Field>
      {make.error && <Failure error={make.error} />}
    </FormDialog>
  );
}
