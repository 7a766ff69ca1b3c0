import type { DocumentNode } from 'graphql'

/** Characters of all documents together. A parsed one may take 250 times its text, so this is what anybody can fill. */
const CHARACTERS = 512 * 1_024
const CHARACTERS_OF_ONE = 32 * 1_024

/**
 * Parsed documents by their text, those used last. Bounded by size and not by number: whoever sends documents, signed in
 * or not, must not decide how much memory they take.
 */
export class DocumentCache {
  readonly #documents = new Map<string, DocumentNode>()
  #characters = 0

  get(text: string): DocumentNode | undefined {
    const document = this.#documents.get(text)
    if (document) {
      this.#documents.delete(text)
      this.#documents.set(text, document) // the last to go
    }
    return document
  }

  set(text: string, document: DocumentNode): void {
    if (text.length > CHARACTERS_OF_ONE || this.#documents.has(text)) return
    this.#documents.set(text, document)
    this.#characters += text.length
    for (const [oldest] of this.#documents) {
      if (this.#characters <= CHARACTERS) return
      this.#documents.delete(oldest)
      this.#characters -= oldest.length
    }
  }
}

/** Faults are found again as fast as they would be looked up. */
export const NO_ERRORS = { get: () => undefined, set: () => {} }
