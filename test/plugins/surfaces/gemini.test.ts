import gemini from '../../../plugins/surfaces/gemini.ts'
import { keepsContract } from './contract.ts'

keepsContract(gemini)
