import { Field } from '@/components/form/Field';
import { placeholdersOf, type SectionDraft } from './form';

/** The texts of a prompt, each under its name. */
export function SectionFields({
  sections,
  problem,
  onChange,
}: {
  sections: readonly SectionDraft[];
  problem: string | null;
  onChange: (sections: readonly SectionDraft[]) => void;
}) {
  const set = (index: number, change: Partial<SectionDraft> | null) =>
    onChange(
      sections.flatMap((one, at) => (at !== index ? [one] : change ? [{ ...one, ...change }] : [])),
    );
  const found = placeholdersOf(sections);
  return (
    <div className="stack tight">
      {sections.map((section, index) => (
        <fieldset key={index} className="agents-section">
          <legend className="sr-only">Section {section.path || index + 1}</legend>
          <div className="row between agents-section-head">
            <Field label="Section">
              {(given) => (
                <input
                  {...given}
                  className="input mono"
                  autoComplete="off"
                  spellCheck={false}
                  maxLength={200}
                  value={section.path}
                  onChange={(event) => set(index, { path: event.target.value })}
                />
              )}
            </Field>
            {sections.length > 1 && (
              <button type="button" className="btn small" onClick={() => set(index, null)}>
                Remove<span className="sr-only"> section {section.path}</span>
              </button>
            )}
          </div>
          <Field label={`Text of ${section.path || 'this section'}`}>
            {(given) => (
              <textarea
                {...given}
                className="textarea mono"
                rows={Math.min(14, Math.max(3, section.text.split('\n').length + 1))}
                value={section.text}
                onChange={(event) => set(index, { text: event.target.value })}
              />
            )}
          </Field>
        </fieldset>
      ))}
      {problem && (
        <span className="problem small bad" role="alert">
          {problem}
        </span>
      )}
      <div className="row between">
        <span className="muted small">
          Sections named <code>system</code>, <code>user</code> or <code>assistant</code> speak in
          that role, all others as system.{' '}
          {found.length > 0 && (
            <>
              Filled from each item:{' '}
              {found.map((name) => (
                <code key={name}>{`{{${name}}} `}</code>
              ))}
            </>
          )}
        </span>
        <button
          type="button"
          className="btn small"
          onClick={() => onChange([...sections, { path: '', text: '' }])}
        >
          Add a section
        </button>
      </div>
    </div>
  );
}
