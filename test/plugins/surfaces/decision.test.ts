import decision from '../../../plugins/surfaces/decision.ts'
import { keepsContract } from './contract.ts'

keepsContract(decision)
