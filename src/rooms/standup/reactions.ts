/** What can be put on an entry, as the database has it. */
export const EMOJI = ['👍', '❤️', '🎉', '👀', '🙏', '💡'] as const
export type Emoji = (typeof EMOJI)[number]

const bare = (text: string) => text.replaceAll('\uFE0F', '')

/** The emoji that is meant, with U+FE0F or without, null for any other. */
export const emojiOf = (text: string): Emoji | null => EMOJI.find((emoji) => bare(emoji) === bare(text)) ?? null
