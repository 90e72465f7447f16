-- A lighthouse.
local json = require("json")

local M = {}

MAX_RANGE = 30
local period = 5

--- Turns the lamp on.
-- @param lamp which one
function M.light(lamp)
  lamp:start(period)
  return json.encode(lamp)
end

function M:blink(times)
  for _ = 1, times do
    self:toggle()
  end
end

local function fog(metres)
  local function thick()
    return metres < 100
  end
  return thick()
end

-- Sounds the horn.
M.horn = function(seconds)
  speaker.play(seconds)
end

local keeper = {
  wake = function() alarm() end,
  name = "Ada",
}

function main()
  M.light(keeper)
  fog(MAX_RANGE)
end

return M
