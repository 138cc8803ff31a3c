import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { Field } from '@/components/form/Field';
import { say } from '@/components/shell/Toasts';
import { useAddress } from '@/lib/address';
import { images } from './client';
import { useLookAgain } from './data';
import { Problem } from './Problem';
import type { Commit } from './types';

const MOST_MB = 20;
const KINDS = 'image/png,image/jpeg,image/webp';

/** A picture of one's own as a commit that runs can start from. */
export function Upload({ project, onClose }: { project: string; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [prompt, setPrompt] = useState('');
  const large = file !== null && file.size > MOST_MB * 1e6;
  const address = useAddress();
  const look = useLookAgain(project);
  const send = useMutation({
    mutationFn: (chosen: File): Promise<Commit> =>
      answer(
        images.POST('/projects/{project_id}/commits', {
          params: { path: { project_id: project }, query: { prompt: prompt.trim() } },
          headers: { 'Content-Type': chosen.type || 'application/octet-stream' },
          // As it is: the client would write it as JSON otherwise.
          body: chosen as unknown as string,
          bodySerializer: (body) => body as unknown as File,
        }),
      ),
    onSuccess: (commit) => {
      look();
      say('The picture is in the history.');
      onClose();
      address.set({ commit: commit.commit_id });
    },
  });
  return (
    <Dialog
      title="Upload a picture"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="btn primary"
            disabled={file === null || large || send.isPending}
            onClick={() => file && send.mutate(file)}
          >
            {send.isPending ? 'Sending…' : 'Upload'}
          </button>
        </>
      }
    >
      <Field
        label="Picture"
        hint={`PNG, JPEG or WebP, up to 25 megapixels and ${MOST_MB} MB.`}
        problem={
          large
            ? `This picture has ${(file.size / 1e6).toFixed(1)} MB, and ${MOST_MB} MB is most: save it smaller.`
            : null
        }
      >
        {(given) => (
          <input
            {...given}
            data-autofocus
            className="input"
            type="file"
            accept={KINDS}
            onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          />
        )}
      </Field>
      <Field label="What it shows" hint="The prompt that a run from it begins with.">
        {(given) => (
          <textarea
            {...given}
            className="textarea"
            rows={3}
            maxLength={4000}
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
          />
        )}
      </Field>
      {send.error && <Problem error={send.error} retry={() => file && send.mutate(file)} />}
    </Dialog>
  );
}
