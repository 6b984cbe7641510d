import * as v from 'valibot'
import { listedTypes } from '../../shared/models/listed-model.ts'

const price = v.object({
  prompt_price_per_k: v.optional(v.number()),
  completion_price_per_k: v.optional(v.number()),
  reasoning_price_per_k: v.optional(v.number()),
  cached_price_per_k: v.optional(v.number()),
  cache_write_price_per_k: v.optional(v.number()),
  cache_write_1h_price_per_k: v.optional(v.number()),
  audio_prompt_price_per_k: v.optional(v.number()),
  audio_completion_price_per_k: v.optional(v.number()),
  character_price_per_k: v.optional(v.number()),
  audio_price_per_min: v.optional(v.number()),
  image_price: v.optional(v.number()),
  request_price: v.optional(v.number()),
})

/** A catalog entry, of which routes document their answers. */
export const modelEntry = v.object({
  id: v.number(),
  object: v.literal('model'),
  created: v.number(),
  owned_by: v.string(),
  model: v.string(),
  name: v.string(),
  description: v.string(),
  type: v.picklist(listedTypes),
  input_modalities: v.array(v.string()),
  price_config: v.record(v.string(), v.record(v.string(), price)),
  regions: v.array(v.string()),
  requires_auth: v.number(),
  usage_mode: v.picklist(['standard', 'confidential', 'both']),
  visible_in_dashboard: v.number(),
  likes_count: v.number(),
  dislikes_count: v.number(),
  total_reviews: v.number(),
  rating_percent: v.number(),
})
