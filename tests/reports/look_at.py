"""Prints whether a screenshot of a report is light or dark, and fails if it shows too little. Called by the tests."""
import sys

from PIL import Image  # comes with tensorboard


def main():
    image = Image.open(sys.argv[1]).convert("RGB")
    width, height = image.size
    assert width >= 1000 and height >= 1000, f"too small: {width} x {height}"
    colors = image.getcolors(width * height)
    assert len(colors) > 100, f"only {len(colors)} colors"
    colored_rows = sum(any(max(p) - min(p) > 60 for _, p in image.crop((0, y, width, y + 1)).getcolors(width))
                       for y in range(0, height, 10))
    assert colored_rows > height // 40, f"lines of charts in {colored_rows} of {height // 10} rows"
    background = max(colors)[1]
    print("light" if sum(background) > 600 else "dark" if sum(background) < 150 else f"background {background}")


if __name__ == "__main__":
    main()
