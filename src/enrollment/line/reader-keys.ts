/** The keys in the reader: which of them the line may bind. */
export class ReaderKeys {
  /** Not bound, in the order in which they came. */
  readonly #unbound: string[] = [];
  /** Of those, keys that nothing is bound to before they are plugged in again. */
  readonly #aside = new Set<string>();
  readonly #bound = new Set<string>();

  /** Keys that are not bound. */
  get unbound(): readonly string[] {
    return this.#unbound;
  }

  isBound(keyId: string): boolean {
    return this.#bound.has(keyId);
  }

  isAside(keyId: string): boolean {
    return this.#aside.has(keyId);
  }

  /** False if the key was there before. */
  add(keyId: string): boolean {
    if (this.#bound.has(keyId) || this.#unbound.includes(keyId)) return false;
    this.#unbound.push(keyId);
    return true;
  }

  /** Whether the key was one that is not bound. */
  remove(keyId: string): boolean {
    this.#bound.delete(keyId);
    this.#aside.delete(keyId);
    const at = this.#unbound.indexOf(keyId);
    if (at >= 0) this.#unbound.splice(at, 1);
    return at >= 0;
  }

  /** The key is bound; it is ignored until it is unplugged. */
  bind(keyId: string): void {
    if (this.remove(keyId)) this.#bound.add(keyId);
  }

  putAside(keyId: string): void {
    if (this.#unbound.includes(keyId)) this.#aside.add(keyId);
  }

  putAllAside(): void {
    for (const keyId of this.#unbound) this.#aside.add(keyId);
  }

  /** A badge relates the keys to a person. */
  recall(): void {
    this.#aside.clear();
  }
}
