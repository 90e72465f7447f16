{-# LANGUAGE LambdaCase #-}
-- | A library of tunes.
module Music.Tunes
  ( Tune (..)
  , play
  ) where

import qualified Data.Map as Map
import Data.List (sortOn)

-- | A tune with its notes.
data Tune = Tune
  { title :: String
  , notes :: [Note]
  } deriving (Show)

newtype Pitch = Pitch Int

type Library = Map.Map String Tune

-- | What can be played.
class Playable a where
  play :: a -> IO ()
  louder :: a -> a
  louder = id

instance Playable Tune where
  play tune = mapM_ sound (notes tune)

maxVoices :: Int
maxVoices = 8

-- | Counts the notes.
count :: Tune -> Int
count tune = length (notes tune)

transpose :: Int -> Note -> Note
transpose 0 note = note
transpose n (Note pitch) = Note (shift pitch)
  where
    shift = addPitch n

data Note = Note Pitch | Rest

infixl 6 <+>
(<+>) :: Tune -> Tune -> Tune
a <+> b = merge a b

main :: IO ()
main = do
  let tune = Tune "Scale" []
  play tune
  print (count tune)
