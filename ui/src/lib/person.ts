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
