import files from '../../../plugins/surfaces/files.ts'
import { keepsContract } from './contract.ts'

keepsContract(files)
