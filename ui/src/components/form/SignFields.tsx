import { Field } from './Field';

/** Who does it and why: both stay with the version for good. */
export function SignFields({
  person,
  note,
  onPerson,
  onNote,
  hint,
  problem,
}: {
  person: string;
  note: string;
  onPerson: (person: string) => void;
  onNote: (note: string) => void;
  /** What a good note says here. */
  hint: string;
  problem: string | null;
}) {
  return (
    <div className="stack">
      <Field label="Your name" hint="Kept with the version, and on this machine." problem={problem}>
        {(given) => (
          <input
            {...given}
            className="input"
            autoComplete="name"
            maxLength={200}
            value={person}
            onChange={(event) => onPerson(event.target.value)}
          />
        )}
      </Field>
      <Field label="Note" hint={hint}>
        {(given) => (
          <textarea
            {...given}
            className="textarea"
            maxLength={2000}
            value={note}
            onChange={(event) => onNote(event.target.value)}
          />
        )}
      </Field>
    </div>
  );
}

/** Who promotes and reverts on this machine, so that nobody types it every time. */
const NAME = 'burnish.person';

export function rememberedPerson(): string {
  try {
    return localStorage.getItem(NAME) ?? '';
  } catch {
    return '';
  }
}

export function rememberPerson(person: string): void {
  try {
    localStorage.setItem(NAME, person);
  } catch {
    // Without storage it is asked for again.
  }
}
