import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answer, api } from '@/api/client';
import { Field } from '@/components/form/Field';
import { FormDialog } from '@/components/form/FormDialog';
import { ModelChoice } from '@/components/form/ModelChoice';
import { rememberedPerson } from '@/components/form/SignFields';
import { say } from '@/components/shell/Toasts';
import { Failure } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import { asConfiguration } from '@/lib/configurations';
import { FIRST_AGENT, placeholdersOf, readAgent, type AgentBody, type AgentForm } from './form';
import { SectionFields } from './SectionFields';
import { TryInput } from './TryInput';

/** A prompt with its model; it can be tried before it is made. */
export default function NewAgent({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState<AgentForm>(FIRST_AGENT);
  const change = (changes: Partial<AgentForm>) => setForm((old) => ({ ...old, ...changes }));
  const { body, problems, usable } = readAgent(form);
  const make = useMake();
  const why = /^[^/]+\/./.test(form.model)
    ? 'Fill in what is missing first.'
    : 'Choose a model first.';
  return (
    <FormDialog
      id="new-agent"
      title="New agent"
      wide
      usable={usable && form.name !== ''}
      busy={make.isPending}
      submit="Make agent"
      submitting="Making…"
      onSubmit={() => make.mutate(body)}
      onClose={onClose}
    >
      <div className="two">
        <Field label="Name" hint="What runs and versions are listed under." problem={problems.name}>
          {(given) => (
            <input
              {...given}
              data-autofocus
              className="input"
              autoComplete="off"
              maxLength={100}
              value={form.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <ModelChoice value={form.model} onChange={(model) => change({ model })} />
      </div>
      <h3>Prompt</h3>
      <SectionFields
        sections={form.sections}
        problem={problems.sections}
        onChange={(sections) => change({ sections })}
      />
      <h3>Answer</h3>
      <AnswerFields form={form} problems={problems} onChange={change} />
      <TryInput
        subject={{
          model: form.model,
          labels: body.labels ?? [],
          output_schema: body.output_schema ?? null,
        }}
        configuration={asConfiguration(body.configuration)}
        fields={placeholdersOf(form.sections)}
        unusable={usable ? null : why}
      />
      {make.error && <Failure error={make.error} />}
    </FormDialog>
  );
}

function AnswerFields({
  form,
  problems,
  onChange,
}: {
  form: AgentForm;
  problems: ReturnType<typeof readAgent>['problems'];
  onChange: (changes: Partial<AgentForm>) => void;
}) {
  return (
    <div className="stack tight">
      <Segmented
        label="What it answers"
        chosen={form.answer}
        onChoose={(answer) => onChange({ answer })}
        options={[
          { value: 'text', label: 'Free text' },
          { value: 'labels', label: 'One of some labels' },
          { value: 'schema', label: 'JSON by a schema' },
        ]}
      />
      {form.answer === 'labels' && (
        <Field label="Labels" hint="One a line, or with commas." problem={problems.labels}>
          {(given) => (
            <textarea
              {...given}
              className="textarea"
              rows={3}
              value={form.labels}
              onChange={(event) => onChange({ labels: event.target.value })}
            />
          )}
        </Field>
      )}
      {form.answer === 'schema' && (
        <Field label="JSON schema" problem={problems.schema}>
          {(given) => (
            <textarea
              {...given}
              className="textarea mono"
              rows={6}
              spellCheck={false}
              value={form.schema}
              onChange={(event) => onChange({ schema: event.target.value })}
            />
          )}
        </Field>
      )}
      <Field
        label="Temperature"
        hint="0 answers alike each time. Empty: as the model has it."
        problem={problems.temperature}
      >
        {(given) => (
          <input
            {...given}
            className="input agents-number"
            inputMode="decimal"
            value={form.temperature}
            onChange={(event) => onChange({ temperature: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}

function useMake() {
  const cache = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: (body: AgentBody) => {
      const author = rememberedPerson();
      return answer(
        api.POST('/v1/private/agents', { body: { ...body, ...(author && { author }) } }),
      );
    },
    onSuccess: (made) => {
      void cache.invalidateQueries({ queryKey: ['agents'] });
      void cache.invalidateQueries({ queryKey: ['agent', made.name] });
      say(`Made the agent ${made.name}`);
      go(`/agents/${encodeURIComponent(made.name)}`);
    },
  });
}
