import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api, ApiError } from '@/api/client';
import { ConfigurationDiff } from '@/components/configuration/Diff';
import { Dialog } from '@/components/Dialog';
import { ModelChoice } from '@/components/form/ModelChoice';
import { rememberedPerson, rememberPerson, SignFields } from '@/components/form/SignFields';
import { say } from '@/components/shell/Toasts';
import { Failure } from '@/components/States';
import { Segmented } from '@/components/Tabs';
import {
  asConfiguration,
  changedCount,
  changesInWords,
  compareConfigurations,
  type AgentConfiguration,
} from '@/lib/configurations';
import type { AgentView } from '../data';
import {
  configurationOf,
  namedModel,
  naming,
  placeholdersOf,
  sectionsOf,
  sectionsProblem,
} from './form';
import { SectionFields } from './SectionFields';
import { TryInput } from './TryInput';

/** A prompt edited as a new version: written, tried, looked at as a difference, then saved. */
export default function EditPrompt({ agent, onClose }: { agent: AgentView; onClose: () => void }) {
  const [before] = useState(() => asConfiguration(agent.configuration));
  const [expected] = useState(agent.active_version);
  const [sections, setSections] = useState(() => sectionsOf(before));
  const [step, setStep] = useState<'write' | 'review'>('write');
  const [person, setPerson] = useState(rememberedPerson);
  const [note, setNote] = useState('');
  const [asked, setAsked] = useState(false);
  const prompt = agent.kind === 'prompt';
  const [model, setModel] = useState(() => namedModel(before));
  const after = configurationOf(sections, naming(before, prompt ? model : null));
  const problem = sectionsProblem(sections, prompt);
  const changes = compareConfigurations(before, after);
  const nothing = changedCount(changes) === 0;
  const save = useSave(agent.name, after, { person, note, expected }, onClose);
  const nameless = person.trim() === '';
  const go = () => {
    setAsked(true);
    if (!nameless) save.mutate();
  };
  return (
    <Dialog
      title={`Edit the prompt of ${agent.name}`}
      wide
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          {step === 'write' ? (
            <button
              type="button"
              className="btn primary"
              disabled={problem !== null || nothing}
              onClick={() => setStep('review')}
            >
              Review the change
            </button>
          ) : (
            <button
              type="button"
              className="btn primary"
              disabled={problem !== null || nothing || save.isPending}
              onClick={go}
            >
              {save.isPending ? 'Saving…' : 'Save as a new version'}
            </button>
          )}
        </>
      }
    >
      <Segmented
        label="Step"
        chosen={step}
        onChoose={setStep}
        options={[
          { value: 'write', label: 'Write' },
          { value: 'review', label: 'What changes' },
        ]}
      />
      {step === 'write' ? (
        <>
          {prompt && (
            <ModelChoice
              hint="It answers from this version on."
              none={`The agent's own${namedModel(before) === '' && agent.model ? `: ${agent.model}` : ''}`}
              value={model}
              onChange={setModel}
            />
          )}
          <SectionFields
            sections={sections}
            problem={problem}
            onChange={(next) => setSections([...next])}
          />
          <TryInput
            subject={{ agent: agent.name }}
            configuration={after}
            fields={placeholdersOf(sections)}
            unusable={problem === null ? null : 'Mend what is marked first.'}
          />
        </>
      ) : (
        <>
          <p>
            {nothing
              ? 'Nothing is changed yet.'
              : `Changes ${changesInWords(changes)}. The new version is active at once; nothing of the history goes.`}
          </p>
          <ConfigurationDiff before={before} after={after} level={3} />
          <SignFields
            person={person}
            note={note}
            onPerson={setPerson}
            onNote={setNote}
            hint="What this version is to do better."
            problem={asked && nameless ? 'A version needs the name of who made it.' : null}
          />
        </>
      )}
      {save.error && <Failure error={save.error} />}
      {save.error instanceof ApiError && save.error.status === 409 && (
        <p className="small">Close this, look at the version that is active now, and edit that.</p>
      )}
    </Dialog>
  );
}

function useSave(
  agent: string,
  configuration: AgentConfiguration,
  sign: { person: string; note: string; expected: number | null },
  done: () => void,
) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/private/agents/{agent}/versions', {
          params: { path: { agent } },
          body: {
            configuration,
            author: sign.person.trim(),
            note: sign.note.trim(),
            ...(sign.expected !== null && { expected_version: sign.expected }),
          },
        }),
      ),
    onSuccess: (made) => {
      rememberPerson(sign.person.trim());
      say(`Version ${made.version} of ${agent} is active now`);
      void cache.invalidateQueries({ queryKey: ['agent', agent] });
      void cache.invalidateQueries({ queryKey: ['agents'] });
      done();
    },
  });
}
