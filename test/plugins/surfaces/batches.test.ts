import batches from '../../../plugins/surfaces/batches.ts'
import { keepsContract } from './contract.ts'

keepsContract(batches)
