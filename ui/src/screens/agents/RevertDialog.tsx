import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api, ApiError } from '@/api/client';
import { ConfigurationDiff } from '@/components/configuration/Diff';
import { Dialog } from '@/components/Dialog';
import { rememberedPerson, rememberPerson, SignFields } from '@/components/form/SignFields';
import { Failure, Loaded } from '@/components/States';
import { say } from '@/components/shell/Toasts';
import { asConfiguration, changesInWords, compareConfigurations } from '@/lib/configurations';
import { useVersion } from './data';

/** Back to an old version, after a look at what that changes. */
export function RevertDialog({
  agent,
  target,
  active,
  newest,
  onClose,
}: {
  agent: string;
  target: number;
  active: number;
  newest: number;
  onClose: () => void;
}) {
  const cache = useQueryClient();
  const [person, setPerson] = useState(rememberedPerson);
  const [note, setNote] = useState('');
  const [asked, setAsked] = useState(false);
  const from = useVersion(agent, active);
  const to = useVersion(agent, target);
  const revert = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/private/agents/{agent}/revert', {
          params: { path: { agent } },
          body: {
            version: target,
            author: person.trim(),
            note: note.trim(),
            expected_version: active,
          },
        }),
      ),
    onSuccess: (made) => {
      rememberPerson(person.trim());
      say(`${agent} is back at what version ${target} was: it is version ${made.version} now.`);
      void cache.invalidateQueries({ queryKey: ['agent', agent] });
      void cache.invalidateQueries({ queryKey: ['agents'] });
      onClose();
    },
  });
  const moved = revert.error instanceof ApiError && revert.error.status === 409;
  const nameless = person.trim() === '';
  const go = () => {
    setAsked(true);
    if (!nameless) revert.mutate();
  };
  return (
    <Dialog
      title={`Revert ${agent} to version ${target}`}
      wide
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Leave as it is
          </button>
          <button
            type="button"
            className="btn primary"
            disabled={!to.data || revert.isPending || moved || target === active}
            onClick={go}
          >
            {revert.isPending ? 'Reverting…' : `Revert to version ${target}`}
          </button>
        </>
      }
    >
      {moved && (
        <div className="notice warn" role="alert">
          <div className="stack tight grow">
            <strong>Nothing was changed: version {active} is no longer the active one</strong>
            <span className="small">
              Somebody else changed {agent} while you looked. Review what a revert changes now.
            </span>
          </div>
          <button
            type="button"
            className="btn small"
            onClick={() => {
              revert.reset();
              void cache.invalidateQueries({ queryKey: ['agent', agent] });
            }}
          >
            Review again
          </button>
        </div>
      )}
      {revert.error && !moved && <Failure error={revert.error} />}
      {target === active ? (
        <p>Version {target} is the active one already: there is nothing to revert.</p>
      ) : (
        <>
          <p>
            Makes version {newest + 1}, equal to version {target}, and active at once in place of
            version {active}. Nothing of the history goes.
          </p>
          <Loaded query={from}>
            {(now) => (
              <Loaded query={to}>
                {(old) => {
                  const [here, there] = [
                    asConfiguration(now.configuration),
                    asConfiguration(old.configuration),
                  ];
                  return (
                    <div className="stack tight">
                      <h3>What changes: {changesInWords(compareConfigurations(here, there))}</h3>
                      <ConfigurationDiff before={here} after={there} level={4} />
                    </div>
                  );
                }}
              </Loaded>
            )}
          </Loaded>
          <SignFields
            person={person}
            note={note}
            onPerson={setPerson}
            onNote={setNote}
            hint={`Why version ${active} has to go, for whoever looks later.`}
            problem={asked && nameless ? 'A version needs the name of who made it.' : null}
          />
        </>
      )}
    </Dialog>
  );
}
