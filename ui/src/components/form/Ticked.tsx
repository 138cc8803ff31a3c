/** Plain text in which names stand in backticks; those are shown as code. */
export function Ticked({ text }: { text: string }) {
  return text
    .split('`')
    .map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece));
}
