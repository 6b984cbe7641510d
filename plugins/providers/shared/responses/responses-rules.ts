/**
 * Which models are asked by Responses, by the names that their vendor gives them. The vendor's pages of models and its
 * refusals are the source (quoted in `test/fakes/rules/openai.json`); a model that is not here is learnt from
 * its refusal.
 */

/** Models that chat completions do not have at all. */
export const responsesOnly = /(?:^|-)(?:codex|pro|deep-research)(?:-|$)|^computer-use/

/** Models that refuse function tools at chat completions, whatever their effort is. */
export const responsesWithTools = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)(?:[.-]|$)/
