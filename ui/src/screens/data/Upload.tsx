import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answer, api, ApiError, type Schemas } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { Field } from '@/components/form/Field';
import { Failure } from '@/components/States';
import { counted } from '@/lib/format';
import { formatOf, nameFrom } from './words';

type Stored = Schemas['StoredDataset'];

/** Sends a file's rows: all of them are stored, or none, and each bad one is named. */
export default function Upload({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [over, setOver] = useState(false);
  const cache = useQueryClient();
  const send = useMutation({
    mutationFn: store,
    onSuccess: () => void cache.invalidateQueries({ queryKey: ['datasets'] }),
  });
  const format = file ? formatOf(file.name) : null;
  const take = (next: File | undefined) => {
    if (!next) return;
    setFile(next);
    send.reset();
    if (name === '') setName(nameFrom(next.name));
  };
  const ready = file !== null && format !== null && name !== '';
  return (
    <Dialog
      title="Upload dataset"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            {send.data ? 'Done' : 'Cancel'}
          </button>
          <button
            type="button"
            className="btn primary"
            disabled={!ready || send.isPending || send.isSuccess}
            onClick={() => file && format && send.mutate({ file, name, ...format })}
          >
            {send.isPending ? 'Sending…' : 'Upload'}
          </button>
        </>
      }
    >
      <label
        className="data-drop"
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          take(event.dataTransfer.files[0]);
        }}
      >
        <input
          type="file"
          accept=".jsonl,.ndjson,.csv,.json"
          onChange={(event) => take(event.target.files?.[0])}
        />
        <strong>{file ? file.name : 'Choose a file, or drop it here'}</strong>
        <span className="muted small">
          CSV with a line of names, JSONL with one object a line, or a JSON list of objects
        </span>
      </label>
      {file && !format && (
        <p className="bad" role="alert">
          {file.name} is none of these: it has to end in .csv, .jsonl or .json.
        </p>
      )}
      <Field label="Name" hint="Letters, digits, dots, dashes. Another upload keeps the old one.">
        {(given) => (
          <input
            {...given}
            className="input"
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      {send.error && <Refusal error={send.error} />}
      {send.data && <Done stored={send.data} />}
    </Dialog>
  );
}

async function store({
  file,
  name,
  format,
  type,
}: {
  file: File;
  name: string;
  format: 'jsonl' | 'csv' | 'json';
  type: string;
}): Promise<Stored> {
  const text = await file.text();
  return await answer(
    api.POST('/v1/private/datasets', {
      params: { query: { name, format } },
      headers: { 'Content-Type': type },
      body: text as never,
      bodySerializer: (body) => body as unknown as string,
    }),
  );
}

/** Every bad row with its line. */
function Refusal({ error }: { error: Error }) {
  if (!(error instanceof ApiError) || error.problems.length === 0) return <Failure error={error} />;
  return (
    <div className="notice bad" role="alert">
      <div className="stack tight grow">
        <strong>Nothing was stored: {counted(error.problems.length, 'row')} cannot be used</strong>
        <div className="data-problems">
          <table className="table">
            <thead>
              <tr>
                <th>Where</th>
                <th>What is wrong</th>
              </tr>
            </thead>
            <tbody>
              {error.problems.map((problem, index) => (
                <tr key={index}>
                  <td className="nowrap">{problem.where}</td>
                  <td>{problem.message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <span className="small">Correct these rows in the file, and choose it again.</span>
      </div>
    </div>
  );
}

function Done({ stored }: { stored: Stored }) {
  return (
    <div className="notice good" role="status">
      <div className="stack tight">
        <span>
          <strong>
            {stored.created
              ? `${counted(stored.items, 'item')} stored`
              : 'The same items were stored before'}
          </strong>
          : <Link href={`/datasets/${stored.dataset_id}`}>{stored.name}</Link>
        </span>
        <Link className="small" href={`/suites?new=suite&dataset=${stored.dataset_id}`}>
          Make a suite of it
        </Link>
        {stored.warnings.map((warning, index) => (
          <span key={index} className="small">
            {warning.where}: {warning.message}
          </span>
        ))}
      </div>
    </div>
  );
}
